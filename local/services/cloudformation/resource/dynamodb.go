package resource

import (
	"context"
	"time"

	"stepback/local/services/cloudformation/template"
)

func tables() []*Type {
	table := &Type{
		Name: "AWS::DynamoDB::Table",
		Properties: properties(`TableName= KeySchema*! LocalSecondaryIndexes! AttributeDefinitions BillingMode
			ContributorInsightsSpecification DeletionProtectionEnabled GlobalSecondaryIndexes OnDemandThroughput
			PointInTimeRecoverySpecification ProvisionedThroughput SSESpecification StreamSpecification TableClass
			TimeToLiveSpecification ResourcePolicy Tags`),
		Create: createTable, Update: updateTable, Read: readTable, List: listTables,
		Delete: func(ctx context.Context, r *Request) error {
			if err := r.Call(ctx, "dynamodb", "DeleteTable", map[string]any{"TableName": r.ID}, nil); err != nil {
				return ignoreAbsent(err)
			}
			for {
				_, err := describeTable(ctx, r, r.ID)
				if err != nil {
					return ignoreAbsent(err)
				}
				if err := r.Wait(ctx, 100*time.Millisecond); err != nil {
					return err
				}
			}
		},
	}
	return []*Type{table, globalTable(table)}
}

type table struct {
	Name       string           `json:"TableName"`
	ARN        string           `json:"TableArn"`
	ID         string           `json:"TableId"`
	Stream     string           `json:"LatestStreamArn"`
	Status     string           `json:"TableStatus"`
	Keys       any              `json:"KeySchema"`
	Attributes any              `json:"AttributeDefinitions"`
	Protected  bool             `json:"DeletionProtectionEnabled"`
	Indexes    []map[string]any `json:"GlobalSecondaryIndexes"`
	Billing    struct {
		Mode string `json:"BillingMode"`
	} `json:"BillingModeSummary"`
}

func describeTable(ctx context.Context, r *Request, name string) (table, error) {
	var out struct{ Table table }
	err := r.Call(ctx, "dynamodb", "DescribeTable", map[string]any{"TableName": name}, &out)
	return out.Table, err
}

// activeTable waits until a table and its indexes are active.
func activeTable(ctx context.Context, r *Request, name string) (State, error) {
	for {
		t, err := describeTable(ctx, r, name)
		if err != nil {
			return State{}, err
		}
		active := t.Status == "ACTIVE"
		for _, i := range t.Indexes {
			status, _ := i["IndexStatus"].(string)
			active = active && (status == "ACTIVE" || status == "")
		}
		if active {
			return tableState(t), nil
		}
		if err := r.Wait(ctx, 200*time.Millisecond); err != nil {
			return State{}, err
		}
	}
}

func tableState(t table) State {
	s := State{ID: t.Name, Attributes: map[string]any{"Arn": t.ARN, "TableId": t.ID}}
	if t.Stream != "" {
		s.Attributes["StreamArn"] = t.Stream
	}
	return s
}

// streamOf returns the specification of a table's stream, which is enabled if the template has one.
func streamOf(p map[string]any) (map[string]any, error) {
	spec, ok := p["StreamSpecification"]
	if !ok {
		return nil, nil //nolint:nilnil // there is none
	}
	in, err := renamed(spec, "#/StreamSpecification", "StreamViewType")
	if err == nil {
		in["StreamEnabled"] = true
	}
	return in, err
}

func encryptionOf(p map[string]any) (map[string]any, error) {
	spec, ok := p["SSESpecification"]
	if !ok {
		return nil, nil //nolint:nilnil // there is none
	}
	return renamed(spec, "#/SSESpecification", "SSEEnabled=Enabled SSEType KMSMasterKeyId")
}

func createTable(ctx context.Context, r *Request) (State, error) {
	name := r.named("TableName", 255)
	in := pick(r.Properties, `KeySchema LocalSecondaryIndexes AttributeDefinitions BillingMode DeletionProtectionEnabled
		OnDemandThroughput ProvisionedThroughput TableClass`)
	in["TableName"] = name
	if r.has("GlobalSecondaryIndexes") {
		indexes, err := globalIndexes(r.Properties)
		if err != nil {
			return State{}, err
		}
		in["GlobalSecondaryIndexes"] = indexes
	}
	stream, err := streamOf(r.Properties)
	if err != nil {
		return State{}, err
	}
	sse, err := encryptionOf(r.Properties)
	if err != nil {
		return State{}, err
	}
	if len(stream) > 0 {
		in["StreamSpecification"] = stream
	}
	if len(sse) > 0 {
		in["SSESpecification"] = sse
	}
	set(in, "Tags", r.tagList())
	if r.has("ResourcePolicy") {
		in["ResourcePolicy"] = document(object(r.Properties, "ResourcePolicy")["PolicyDocument"])
	}
	if _, err := r.create(ctx, "dynamodb", "CreateTable", in, nil); err != nil {
		return State{}, err
	}
	state, err := activeTable(ctx, r, name)
	if err != nil {
		return State{ID: name}, err
	}
	return state, tableSettings(ctx, r, name)
}

func globalIndexes(p map[string]any) ([]any, error) {
	return each(p["GlobalSecondaryIndexes"], "#/GlobalSecondaryIndexes", func(v any, path string) (map[string]any, error) {
		return renamed(v, path, "IndexName KeySchema Projection ProvisionedThroughput OnDemandThroughput WarmThroughput")
	})
}

// tableSettings applies the settings that have separate operations.
func tableSettings(ctx context.Context, r *Request, name string) error {
	if r.changed("TimeToLiveSpecification") {
		spec := object(r.Properties, "TimeToLiveSpecification")
		if spec == nil {
			spec = map[string]any{"Enabled": false, "AttributeName": object(r.Previous, "TimeToLiveSpecification")["AttributeName"]}
		}
		if err := r.Call(ctx, "dynamodb", "UpdateTimeToLive", map[string]any{"TableName": name,
			"TimeToLiveSpecification": spec}, nil); err != nil {
			return err
		}
	}
	if r.changed("PointInTimeRecoverySpecification") {
		spec := object(r.Properties, "PointInTimeRecoverySpecification")
		if spec == nil {
			spec = map[string]any{"PointInTimeRecoveryEnabled": false}
		}
		if err := r.Call(ctx, "dynamodb", "UpdateContinuousBackups", map[string]any{"TableName": name,
			"PointInTimeRecoverySpecification": spec}, nil); err != nil {
			return err
		}
	}
	if r.changed("ContributorInsightsSpecification") {
		action := "DISABLE"
		if textOf(object(r.Properties, "ContributorInsightsSpecification"), "Enabled") == "true" {
			action = "ENABLE"
		}
		return r.Call(ctx, "dynamodb", "UpdateContributorInsights", map[string]any{"TableName": name,
			"ContributorInsightsAction": action}, nil)
	}
	return nil
}

func updateTable(ctx context.Context, r *Request) (State, error) {
	in := map[string]any{}
	for _, name := range []string{"BillingMode", "DeletionProtectionEnabled", "ProvisionedThroughput", "TableClass",
		"OnDemandThroughput"} {
		if r.changed(name) && r.has(name) {
			in[name] = r.Properties[name]
		}
	}
	if r.changed("DeletionProtectionEnabled") && !r.has("DeletionProtectionEnabled") {
		in["DeletionProtectionEnabled"] = false
	}
	if r.changed("BillingMode") && !r.has("BillingMode") {
		in["BillingMode"] = "PROVISIONED"
	}
	if r.changed("StreamSpecification") {
		stream, err := streamOf(r.Properties)
		if err != nil {
			return State{}, err
		}
		if stream == nil {
			stream = map[string]any{"StreamEnabled": false}
		}
		in["StreamSpecification"] = stream
	}
	if r.changed("SSESpecification") {
		sse, err := encryptionOf(r.Properties)
		if err != nil {
			return State{}, err
		}
		if sse == nil {
			sse = map[string]any{"Enabled": false}
		}
		in["SSESpecification"] = sse
	}
	if len(in) > 0 {
		in["TableName"] = r.ID
		if err := r.Call(ctx, "dynamodb", "UpdateTable", in, nil); err != nil {
			return State{}, err
		}
		if _, err := activeTable(ctx, r, r.ID); err != nil {
			return State{}, err
		}
	}
	if err := updateIndexes(ctx, r); err != nil {
		return State{}, err
	}
	if err := tableSettings(ctx, r, r.ID); err != nil {
		return State{}, err
	}
	state, err := activeTable(ctx, r, r.ID)
	if err != nil {
		return state, err
	}
	return state, r.retag(ctx, "dynamodb", "TagResource", "UntagResource", map[string]any{
		"ResourceArn": state.Attributes["Arn"]}, "Tags", "TagKeys", asKeyValue)
}

// updateIndexes creates, changes and deletes global indexes, one per call, as DynamoDB requires.
func updateIndexes(ctx context.Context, r *Request) error {
	if !r.changed("GlobalSecondaryIndexes") {
		return nil
	}
	byName := func(p map[string]any) map[string]map[string]any {
		m := map[string]map[string]any{}
		for _, e := range list(p, "GlobalSecondaryIndexes") {
			i, _ := e.(map[string]any)
			m[textOf(i, "IndexName")] = i
		}
		return m
	}
	if _, err := globalIndexes(map[string]any{"GlobalSecondaryIndexes": append([]any{},
		list(r.Properties, "GlobalSecondaryIndexes")...)}); err != nil {
		return err
	}
	now, before := byName(r.Properties), byName(r.Previous)
	call := func(change map[string]any) error {
		if err := r.Call(ctx, "dynamodb", "UpdateTable", map[string]any{"TableName": r.ID,
			"AttributeDefinitions":        r.Properties["AttributeDefinitions"],
			"GlobalSecondaryIndexUpdates": []any{change}}, nil); err != nil {
			return err
		}
		_, err := activeTable(ctx, r, r.ID)
		return err
	}
	for name, index := range before {
		if made, ok := now[name]; !ok || template.JSON(made["KeySchema"]) != template.JSON(index["KeySchema"]) ||
			template.JSON(made["Projection"]) != template.JSON(index["Projection"]) {
			if err := call(map[string]any{"Delete": map[string]any{"IndexName": name}}); err != nil {
				return err
			}
			delete(before, name)
		}
	}
	for name, index := range now {
		old, ok := before[name]
		var err error
		switch {
		case !ok:
			err = call(map[string]any{"Create": index})
		case template.JSON(old) != template.JSON(index):
			err = call(map[string]any{"Update": pick(index, "IndexName ProvisionedThroughput OnDemandThroughput")})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readTable(ctx context.Context, r *Request) (map[string]any, error) {
	t, err := describeTable(ctx, r, r.ID)
	if err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{"TableName": t.Name, "KeySchema": t.Keys, "AttributeDefinitions": t.Attributes,
		"DeletionProtectionEnabled": t.Protected}
	set(p, "BillingMode", t.Billing.Mode)
	return p, nil
}

func listTables(ctx context.Context, r *Request) ([]string, error) {
	var out struct{ TableNames []string }
	err := r.Call(ctx, "dynamodb", "ListTables", nil, &out)
	return out.TableNames, err
}
