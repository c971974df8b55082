package resource

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// globalTable returns the type AWS::DynamoDB::GlobalTable, which CDK's TableV2 creates. It has one replica: a table
// in the stack's region. Replicas in other regions and provisioned throughput are rejected by name.
func globalTable(table *Type) *Type {
	as := func(f func(context.Context, *Request) (State, error)) func(context.Context, *Request) (State, error) {
		return func(ctx context.Context, r *Request) (State, error) {
			one, err := ofReplica(r)
			if err != nil {
				return State{}, err
			}
			return f(ctx, one)
		}
	}
	return &Type{
		Name: "AWS::DynamoDB::GlobalTable",
		Properties: properties(`TableName= KeySchema*! LocalSecondaryIndexes! AttributeDefinitions* BillingMode
			GlobalSecondaryIndexes Replicas* SSESpecification StreamSpecification TimeToLiveSpecification
			WriteOnDemandThroughputSettings`),
		Create: as(table.Create), Update: as(table.Update), Delete: table.Delete, List: table.List,
		Read: func(ctx context.Context, r *Request) (map[string]any, error) {
			p, err := table.Read(ctx, r)
			if err == nil {
				delete(p, "DeletionProtectionEnabled") // it belongs to the replica
			}
			return p, err
		},
	}
}

// ofReplica converts a request for a global table to the request for its replica, the table in the stack's region.
func ofReplica(r *Request) (*Request, error) {
	one := *r
	var err error
	if one.Properties, err = replicaProperties(r.Properties, r.Scope.Region); err != nil {
		return nil, err
	}
	if len(r.Previous) > 0 {
		// The existing properties were accepted before, so none of them is rejected.
		one.Previous, err = replicaProperties(r.Previous, r.Scope.Region)
	}
	return &one, err
}

// ofReplicaNames are the properties that are set per replica.
var ofReplicaNames = strings.Fields(`ContributorInsightsSpecification DeletionProtectionEnabled
	PointInTimeRecoverySpecification ResourcePolicy TableClass Tags`)

// replicaProperties converts the properties of a global table to those of its replica, the table in the region.
func replicaProperties(p map[string]any, region string) (map[string]any, error) {
	to := pick(p, `TableName KeySchema LocalSecondaryIndexes AttributeDefinitions BillingMode GlobalSecondaryIndexes
		SSESpecification StreamSpecification TimeToLiveSpecification`)
	var wrong []string
	refuse := func(path string) { wrong = append(wrong, path+": is not supported here") }
	replicas := list(p, "Replicas")
	if len(replicas) != 1 || textOf(asObject(replicas[0]), "Region") != region {
		return nil, &PropertyError{Problems: []string{"#/Replicas: there can be one replica here, in the region " + region}}
	}
	replica := asObject(replicas[0])
	for _, name := range slices.Sorted(maps.Keys(replica)) {
		switch {
		case slices.Contains(ofReplicaNames, name):
			to[name] = replica[name]
		case name == "SSESpecification":
			sse := maps.Clone(object(to, "SSESpecification"))
			if sse == nil {
				sse = map[string]any{"SSEEnabled": true}
			}
			maps.Copy(sse, object(replica, name))
			to["SSESpecification"] = sse
		case name == "GlobalSecondaryIndexes":
			for _, e := range list(replica, name) {
				if len(asObject(e)) > 1 {
					refuse("#/Replicas/0/GlobalSecondaryIndexes/" + textOf(asObject(e), "IndexName"))
				}
			}
		case name != "Region":
			refuse("#/Replicas/0/" + name)
		}
	}
	if most := object(p, "WriteOnDemandThroughputSettings"); most != nil {
		to["OnDemandThroughput"] = pick(most, "MaxWriteRequestUnits")
	}
	for _, e := range list(p, "GlobalSecondaryIndexes") {
		for name := range asObject(e) {
			if strings.HasPrefix(name, "Write") {
				refuse("#/GlobalSecondaryIndexes/" + textOf(asObject(e), "IndexName") + "/" + name)
			}
		}
	}
	if len(wrong) > 0 {
		return nil, &PropertyError{Problems: wrong}
	}
	return to, nil
}

func asObject(v any) map[string]any { o, _ := v.(map[string]any); return o }
