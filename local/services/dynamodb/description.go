package dynamodb

import (
	"cmp"
	"encoding/json"
	"time"

	"stepback/aws/server"
)

// The API's structures that describe tables.
type (
	attributeDefinition struct {
		Name string `json:"AttributeName"`
		Type string `json:"AttributeType"`
	}
	keySchemaElement struct {
		Name string `json:"AttributeName"`
		Type string `json:"KeyType"`
	}
	projection struct {
		Type   string   `json:"ProjectionType,omitempty"`
		NonKey []string `json:"NonKeyAttributes,omitempty"`
	}
	throughput struct {
		Read  int64 `json:"ReadCapacityUnits"`
		Write int64 `json:"WriteCapacityUnits"`
	}
	onDemandThroughput struct {
		MaxRead  int64 `json:"MaxReadRequestUnits,omitempty"`
		MaxWrite int64 `json:"MaxWriteRequestUnits,omitempty"`
	}
	// warmThroughput is the throughput that a table or an index supports at once, per second. Status is set in answers.
	warmThroughput struct {
		Read   int64  `json:"ReadUnitsPerSecond,omitempty"`
		Write  int64  `json:"WriteUnitsPerSecond,omitempty"`
		Status string `json:"Status,omitempty"`
	}
	throughputDescription struct {
		Increased *server.Time `json:"LastIncreaseDateTime,omitempty"`
		Decreased *server.Time `json:"LastDecreaseDateTime,omitempty"`
		Decreases int64        `json:"NumberOfDecreasesToday"`
		throughput
	}
	billingSummary struct {
		Mode  string       `json:"BillingMode"`
		Since *server.Time `json:"LastUpdateToPayPerRequestDateTime,omitempty"`
	}
	encryption struct {
		Status       string       `json:"Status,omitempty"`
		Type         string       `json:"SSEType,omitempty"`
		KeyARN       string       `json:"KMSMasterKeyArn,omitempty"`
		Inaccessible *server.Time `json:"InaccessibleEncryptionDateTime,omitempty"`
	}
	classSummary struct {
		Class string       `json:"TableClass"`
		Since *server.Time `json:"LastUpdateDateTime,omitempty"`
	}
	streamSpecification struct {
		Enabled bool   `json:"StreamEnabled"`
		View    string `json:"StreamViewType,omitempty"`
	}
	indexDescription struct {
		Name       string             `json:"IndexName"`
		Keys       []keySchemaElement `json:"KeySchema"`
		Projection projection
		Bytes      int64  `json:"IndexSizeBytes"`
		Items      int64  `json:"ItemCount"`
		ARN        string `json:"IndexArn"`
	}
	globalIndexDescription struct {
		indexDescription
		Status      string                 `json:"IndexStatus"`
		Backfilling *bool                  `json:"Backfilling,omitempty"`
		Throughput  *throughputDescription `json:"ProvisionedThroughput,omitempty"`
		OnDemand    *onDemandThroughput    `json:"OnDemandThroughput,omitempty"`
		Warm        *warmThroughput        `json:"WarmThroughput,omitempty"`
	}
	tableDescription struct {
		Definitions []attributeDefinition    `json:"AttributeDefinitions,omitempty"`
		Name        string                   `json:"TableName"`
		Keys        []keySchemaElement       `json:"KeySchema,omitempty"`
		Status      string                   `json:"TableStatus"`
		Created     *server.Time             `json:"CreationDateTime,omitempty"`
		Throughput  *throughputDescription   `json:"ProvisionedThroughput,omitempty"`
		Bytes       int64                    `json:"TableSizeBytes"`
		Items       int64                    `json:"ItemCount"`
		ARN         string                   `json:"TableArn"`
		ID          string                   `json:"TableId"`
		Billing     *billingSummary          `json:"BillingModeSummary,omitempty"`
		Local       []indexDescription       `json:"LocalSecondaryIndexes,omitempty"`
		Global      []globalIndexDescription `json:"GlobalSecondaryIndexes,omitempty"`
		Stream      *streamSpecification     `json:"StreamSpecification,omitempty"`
		StreamLabel string                   `json:"LatestStreamLabel,omitempty"`
		StreamARN   string                   `json:"LatestStreamArn,omitempty"`
		Encryption  *encryption              `json:"SSEDescription,omitempty"`
		Class       *classSummary            `json:"TableClassSummary,omitempty"`
		Protected   bool                     `json:"DeletionProtectionEnabled"`
		OnDemand    *onDemandThroughput      `json:"OnDemandThroughput,omitempty"`
		Warm        *warmThroughput          `json:"WarmThroughput,omitempty"`
		*unsupportedMembers
	}
	// unsupportedMembers holds members for features that this DynamoDB does not have: replicas, archives, restores.
	unsupportedMembers struct {
		GlobalTableVersion                 json.RawMessage `json:",omitempty"`
		Replicas                           json.RawMessage `json:",omitempty"`
		GlobalTableWitnesses               json.RawMessage `json:",omitempty"`
		GlobalTableSettingsReplicationMode json.RawMessage `json:",omitempty"`
		RestoreSummary                     json.RawMessage `json:",omitempty"`
		ArchivalSummary                    json.RawMessage `json:",omitempty"`
		MultiRegionConsistency             json.RawMessage `json:",omitempty"`
	}
)

// The statuses of tables and indexes. For operations that AWS executes in the background, the response says that
// they are in progress, although the table has already been created, changed or deleted.
const (
	statusActive   = "ACTIVE"
	statusCreating = "CREATING"
	statusUpdating = "UPDATING"
	statusDeleting = "DELETING"
)

const (
	provisioned   = "PROVISIONED"
	payPerRequest = "PAY_PER_REQUEST"
)

func (s schema) elements() []keySchemaElement {
	all := make([]keySchemaElement, 0, len(s.hashes())+len(s.ranges()))
	for _, name := range s.hashes() {
		all = append(all, keySchemaElement{name, hashKey})
	}
	for _, name := range s.ranges() {
		all = append(all, keySchemaElement{name, rangeKey})
	}
	return all
}

// describe describes a table.
func (s *Service) describe(t *table, status string) *tableDescription {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := &tableDescription{Definitions: t.Definitions, Name: t.Name, Keys: t.Keys.elements(), Status: status,
		Created: timeOf(t.Created), Throughput: &throughputDescription{throughput: t.Throughput},
		Bytes: t.counts.Table.Bytes,
		Items: t.counts.Table.Items, ARN: t.arn(), ID: t.ID, Encryption: t.Encryption, Protected: t.Protected,
		OnDemand: t.OnDemand, Warm: warm(t.Warm, t.Billing, t.Throughput, status)}
	if t.Billing == payPerRequest || t.BillingSince != 0 {
		d.Billing = &billingSummary{Mode: t.Billing}
		if t.BillingSince != 0 {
			d.Billing.Since = timeOf(t.BillingSince)
		}
	}
	if t.Class != "" {
		d.Class = &classSummary{Class: t.Class}
		if t.ClassSince != 0 {
			d.Class.Since = timeOf(t.ClassSince)
		}
	}
	for n := range t.Indexes {
		x := &t.Indexes[n]
		c := t.counts.Indexes[x.Number]
		i := indexDescription{Name: x.Name, Keys: x.Keys.elements(), Projection: x.Projection, Bytes: c.Bytes,
			Items: c.Items,
			ARN:   t.arn() + "/index/" + x.Name}
		if x.Local {
			d.Local = append(d.Local, i)
			continue
		}
		indexStatus := statusActive
		if status != statusActive {
			indexStatus = status
		}
		d.Global = append(d.Global, globalIndexDescription{indexDescription: i, Status: indexStatus,
			Throughput: &throughputDescription{throughput: x.Throughput}, OnDemand: x.OnDemand,
			Warm: warm(x.Warm, t.Billing, x.Throughput, status)})
	}
	if st := s.streams[t.Stream]; st != nil {
		d.StreamLabel, d.StreamARN = st.Label, st.arn()
		if st.Ended == 0 {
			d.Stream = &streamSpecification{Enabled: true, View: st.View}
		}
	}
	return d
}

// The warm throughput of tables with capacity on demand.
const onDemandReads, onDemandWrites = 12_000, 4_000

// warm returns the warm throughput as a response shows it: that which was requested, or else that of the capacity. A
// response to a change shows it only if it was requested.
func warm(asked *warmThroughput, billing string, capacity throughput, status string) *warmThroughput {
	shown := &warmThroughput{onDemandReads, onDemandWrites, statusActive}
	if billing != payPerRequest {
		shown.Read, shown.Write = capacity.Read, capacity.Write
	}
	switch {
	case asked != nil:
		shown.Read, shown.Write = max(shown.Read, asked.Read), max(shown.Write, asked.Write)
		if billing != payPerRequest {
			shown.Read, shown.Write = cmp.Or(asked.Read, shown.Read), cmp.Or(asked.Write, shown.Write)
		}
		if status == statusCreating || status == statusUpdating {
			shown.Status = statusUpdating
		}
	case status != statusActive:
		return nil
	}
	return shown
}

func timeOf(milliseconds int64) *server.Time {
	t := server.Time(time.UnixMilli(milliseconds))
	return &t
}
