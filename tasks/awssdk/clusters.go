package awssdk

import (
	"context"

	"stepback/engine"
	"stepback/jsonvalue"
)

// clusters adds the optimized integrations with EMR. Step Functions' API for them differs from EMR's own: it has a
// single cluster, step or instance group where EMR has lists, clusters where EMR has job flows, and names where EMR
// has IDs.
func clusters(table map[string]*Optimized) {
	emr := func(name, action string, prepare preparation, shape func(params, result jsonvalue.Value) jsonvalue.Value) {
		table["elasticmapreduce:"+name] = &Optimized{
			serviceName: "emr", action: action, prefix: "ElasticMapReduce",
			base:    "AmazonElasticMapReduceException",
			product: "AmazonElasticMapReduce", prepare: prepare, shape: shape,
		}
	}
	flow := rewriting{"ClusterId": {"JobFlowIds", true}}.prepare
	step := rewriting{"ClusterId": {"JobFlowId", false}, "Step": {"Steps", true}}.prepare
	emr("createCluster", "RunJobFlow", nil, renamed("JobFlowId", "ClusterId"))
	emr("terminateCluster", "TerminateJobFlows", flow, nil)
	emr("setClusterTerminationProtection", "SetTerminationProtection", flow, nil)
	emr("addStep", "AddJobFlowSteps", step, first("StepIds", "StepId"))
	emr("cancelStep", "CancelSteps", rewriting{"StepId": {"StepIds", true}}.prepare, first("CancelStepsInfoList",
		"CancelStepsInfo"))
	emr("modifyInstanceFleetByName", "ModifyInstanceFleet", namedInstances{list: "InstanceFleets", one: "InstanceFleet"}.prepare,
		nil)
	emr("modifyInstanceGroupByName", "ModifyInstanceGroups", namedInstances{list: "InstanceGroups", one: "InstanceGroup",
		many: true}.prepare, nil)
}

// rewriting maps members of a task's parameters to members of a request.
type rewriting map[string]struct {
	name string
	list bool // the value becomes the only element of a list
}

func (w rewriting) prepare(_ context.Context, _ *Optimized, _ *engine.Task, params jsonvalue.Value) (jsonvalue.Value,
	error) {
	if params.Kind() != jsonvalue.Object {
		return params, nil
	}
	b := jsonvalue.NewObject(params.Len())
	for i, key := range params.Keys() {
		v := params.At(i)
		if to, ok := w[key]; ok {
			key = to.name
			if to.list {
				v = jsonvalue.OfArray([]jsonvalue.Value{v})
			}
		}
		b.Set(key, v)
	}
	return b.Value(), nil
}

func renamed(from, to string) func(params, result jsonvalue.Value) jsonvalue.Value {
	return func(_, result jsonvalue.Value) jsonvalue.Value {
		v, _ := result.Get(from)
		return only(to, v)
	}
}

// first returns a function that replaces a result by the first element of one of its lists.
func first(list, name string) func(params, result jsonvalue.Value) jsonvalue.Value {
	return func(_, result jsonvalue.Value) jsonvalue.Value {
		v, _ := result.Get(list)
		if v.Kind() != jsonvalue.Array || v.Len() == 0 {
			return jsonvalue.NewObject(0).Value()
		}
		return only(name, v.Elements()[0])
	}
}

func only(name string, v jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(1)
	b.Set(name, v)
	return b.Value()
}
