package dynamodb

import (
	"context"
	"slices"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/item"
)

type updateTable struct {
	tableRequest
	Definitions []attributeDefinition `json:"AttributeDefinitions"`
	Billing     string                `json:"BillingMode"`
	Throughput  *throughput           `json:"ProvisionedThroughput"`
	Indexes     []indexUpdate         `json:"GlobalSecondaryIndexUpdates"`
	Stream      *streamSpecification  `json:"StreamSpecification"`
	Encryption  *encryptionRequest    `json:"SSESpecification"`
	Class       string                `json:"TableClass"`
	Protected   *bool                 `json:"DeletionProtectionEnabled"`
	OnDemand    *onDemandThroughput   `json:"OnDemandThroughput"`
	Warm        *warmThroughput       `json:"WarmThroughput"`
	Replicas    jsonvalue.Value       `json:"ReplicaUpdates"`
	Witnesses   jsonvalue.Value       `json:"GlobalTableWitnessUpdates"`
	Consistency jsonvalue.Value       `json:"MultiRegionConsistency"`
}

type indexUpdate struct {
	Create *newIndex
	Delete *struct {
		Name string `json:"IndexName"`
	}
	Update *struct {
		Name       string              `json:"IndexName"`
		Throughput *throughput         `json:"ProvisionedThroughput"`
		OnDemand   *onDemandThroughput `json:"OnDemandThroughput"`
		Warm       *warmThroughput     `json:"WarmThroughput"`
	}
}

func (s *Service) updateTable(_ context.Context, scope aws.Scope, in *updateTable) (*describedNew, error) {
	switch {
	case !in.Replicas.IsNull():
		return nil, unsupported("A replica (ReplicaUpdates)")
	case !in.Witnesses.IsNull() || !in.Consistency.IsNull():
		return nil, unsupported("A global table (GlobalTableWitnessUpdates, MultiRegionConsistency)")
	case in.Billing == "" && in.Throughput == nil && len(in.Indexes) == 0 && in.Stream == nil && in.Encryption == nil &&
		in.Class == "" && in.Protected == nil && in.OnDemand == nil && in.Warm == nil:
		return nil, invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
			"GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	}
	if err := in.checkIndexes(); err != nil {
		return nil, err
	}
	if err := in.Stream.check(); err != nil {
		return nil, err
	}
	at, _, err := nameOf(scope, in.Name)
	if err != nil {
		return nil, err
	}
	encrypted, err := s.encryption(at, in.Encryption)
	if err != nil {
		return nil, err
	}
	made, err := s.alter(scope, in.Name, func(now int64, b *documents.Batch, t *table) (*table, error) {
		var failed error
		changed := t.changed(func(r *record) { failed = in.apply(now, r, encrypted) })
		if failed != nil {
			return nil, failed
		}
		for n := range t.Indexes {
			if x := &t.Indexes[n]; changed.index(x.Name) == nil {
				b.UnsetAll(key(indexKey, t.number, x.Number))
				delete(t.counts.Indexes, x.Number)
			}
		}
		for n := range changed.Indexes {
			if x := &changed.Indexes[n]; t.index(x.Name) == nil {
				if err := s.fill(b, changed, x); err != nil {
					return nil, err
				}
			}
		}
		return changed, s.changeStream(now, b, changed, in.Stream)
	})
	if err != nil {
		return nil, err
	}
	return &describedNew{s.describe(made, statusUpdating)}, nil
}

// checkIndexes checks the changes of indexes without the table: each is one of three, and one at most creates or
// deletes.
func (in *updateTable) checkIndexes() error {
	online := 0
	for _, u := range in.Indexes {
		kinds := 0
		for _, given := range []bool{u.Create != nil, u.Delete != nil, u.Update != nil} {
			if given {
				kinds++
			}
		}
		switch {
		case kinds == 0:
			return invalid(invalidParameter + "One of GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Update, " +
				"GlobalSecondaryIndexUpdate.Delete must not be null")
		case kinds > 1:
			return invalid(invalidParameter + "Only one of GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Update, " +
				"GlobalSecondaryIndexUpdate.Delete may be specified")
		}
		if u.Update == nil {
			online++
		}
	}
	if online > 1 {
		return &aws.Error{Code: "LimitExceededException",
			Message: "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"}
	}
	return nil
}

// apply changes a table's record. It returns an error if the change is not allowed.
func (in *updateTable) apply(now int64, r *record, encrypted *encryption) (err error) {
	for _, d := range in.Definitions {
		i := slices.IndexFunc(r.Definitions, func(old attributeDefinition) bool { return old.Name == d.Name })
		switch {
		case i < 0:
			r.Definitions = append(r.Definitions, d)
		case r.Definitions[i].Type != d.Type:
			return invalidf(invalidParameter+"Attributes cannot be redefined. Please check that your attribute has the same type as "+
				"previously defined. Existing schema: Schema:[SchemaElement: key{%s:%s:HASH}] New schema: Schema:[SchemaElement: "+
				"key{%s:%s:HASH}]", d.Name, r.Definitions[i].Type, d.Name, d.Type)
		}
	}
	if err := in.applyBilling(now, r); err != nil {
		return err
	}
	for _, u := range in.Indexes {
		if err := u.apply(r, in.Definitions); err != nil {
			return err
		}
	}
	r.dropDefinitions()
	if err := r.checkDefinitions(); err != nil {
		return err
	}
	if in.Class != "" {
		r.Class, r.ClassSince = in.Class, now
	}
	if in.Protected != nil {
		r.Protected = *in.Protected
	}
	if in.OnDemand != nil {
		r.OnDemand = in.OnDemand
	}
	if in.Warm != nil {
		r.Warm = in.Warm
	}
	if in.Encryption != nil {
		r.Encryption = encrypted
	}
	return nil
}

func (in *updateTable) applyBilling(now int64, r *record) (err error) {
	if in.Billing != "" && in.Billing != r.Billing {
		r.Billing = in.Billing
		if in.Billing == payPerRequest {
			r.BillingSince, r.Throughput = now, throughput{}
			for n := range r.Indexes {
				r.Indexes[n].Throughput = throughput{}
			}
		}
		r.Throughput, err = checkThroughput(r.Billing, in.Throughput, "")
		return err
	}
	if in.Throughput == nil {
		return nil
	}
	given, err := checkThroughput(r.Billing, in.Throughput, "")
	switch {
	case err != nil:
		return err
	case given == r.Throughput:
		return invalidf("The provisioned throughput for the table will not change. The requested value equals the current "+
			"value. Current ReadCapacityUnits provisioned for the table: %d. Requested ReadCapacityUnits: %d. Current "+
			"WriteCapacityUnits provisioned for the table: %d. Requested WriteCapacityUnits: %d. Refer to the Amazon "+
			"DynamoDB Developer Guide for current limits and how to request higher limits.",
			given.Read, given.Read, given.Write, given.Write)
	}
	r.Throughput = given
	return nil
}

// apply changes an index of a table's record. definitions are those of the request, which must have the keys of a new
// index, although the table may know them.
func (u indexUpdate) apply(r *record, definitions []attributeDefinition) (err error) {
	find := func(name string) (int, error) {
		i := slices.IndexFunc(r.Indexes, func(x index) bool { return x.Name == name && !x.Local })
		if i < 0 {
			return i, &aws.Error{Code: errNoTable.Code, Message: "Requested resource not found"}
		}
		return i, nil
	}
	switch {
	case u.Create != nil:
		if slices.ContainsFunc(r.Indexes, func(x index) bool { return x.Name == u.Create.Name }) {
			return invalid("Attempting to create an index which already exists")
		}
		if _, err := checkKeys(u.Create.Keys, definitions, mostKeyAttributes); err != nil {
			return err
		}
		return r.addIndexes(nil, []newIndex{*u.Create})
	case u.Delete != nil:
		i, err := find(u.Delete.Name)
		if err == nil {
			r.Indexes = slices.Delete(r.Indexes, i, i+1)
		}
		return err
	case u.Update != nil:
		i, err := find(u.Update.Name)
		if err != nil {
			return err
		}
		if u.Update.OnDemand != nil {
			r.Indexes[i].OnDemand = u.Update.OnDemand
		}
		if u.Update.Warm != nil {
			r.Indexes[i].Warm = u.Update.Warm
		}
		if u.Update.Throughput != nil {
			r.Indexes[i].Throughput, err = checkThroughput(r.Billing, u.Update.Throughput, u.Update.Name)
		}
		return err
	}
	return nil
}

// dropDefinitions removes the definitions of attributes that are no longer keys.
func (r *record) dropDefinitions() {
	r.Definitions = slices.DeleteFunc(r.Definitions, func(d attributeDefinition) bool {
		return !slices.Contains(r.Keys.names(), d.Name) && !slices.ContainsFunc(r.Indexes, func(x index) bool {
			return slices.Contains(x.Keys.names(), d.Name)
		})
	})
}

// fill creates the entries of a new index. Items whose attributes have other types than its keys, or are too long for
// them, are excluded. The caller holds mu.
func (s *Service) fill(b *documents.Batch, t *table, x *index) error {
	var c stats
	prefix := key(itemKey, t.number)
	err := s.store.Each(prefix, func(k, value []byte) error {
		i, err := item.Decode(value)
		if err != nil || !x.has(i) {
			return err
		}
		for _, name := range x.Keys.names() {
			if v := i[name]; v.Kind != t.kinds[name] || v.Text == "" {
				return nil
			}
		}
		if total(i, x.Keys.hashes()) > maxHashBytes || total(i, x.Keys.ranges()) > maxRangeBytes {
			return nil
		}
		place := k[len(prefix):]
		b.Set(t.entry(x, i, place), place)
		c.Items++
		c.Bytes += int64(t.project(x, i).Size())
		return nil
	})
	if err != nil {
		return err
	}
	t.counts.Indexes[x.Number] = c
	b.Set(key(statsKey, t.number), t.counts.append(nil))
	return nil
}
