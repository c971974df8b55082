package awssdk

import (
	"context"

	"stepback/engine"
	"stepback/jsonvalue"
)

// namedInstances describes how to find and change the instance fleets or groups of an EMR cluster. Tasks identify
// them by name.
type namedInstances struct {
	list string // member of EMR's listing; the action is List followed by this
	one  string // member of the parameters that describes the change; with Name appended, the member with the name
	many bool   // EMR takes a list of changes
}

// prepare builds the EMR request; it looks up the instance's EMR ID first.
func (n namedInstances) prepare(ctx context.Context, o *Optimized, t *engine.Task, params jsonvalue.Value) (jsonvalue.Value,
	error) {
	name, given := params.Get(n.one + "Name")
	if !given {
		return params, unusableParameters(t.Parameters,
			[]string{`The field "` + n.one + `Name" is required but was missing`})
	}
	id, err := n.find(ctx, o, t, params, name.Text())
	if err != nil {
		return params, err
	}
	change := jsonvalue.NewObject(1)
	change.Set(n.one+"Id", id)
	if wanted, ok := params.Get(n.one); ok {
		for i, key := range wanted.Keys() {
			change.Set(key, wanted.At(i))
		}
	}
	member, value := n.one, change.Value()
	if n.many {
		member, value = n.list, jsonvalue.OfArray([]jsonvalue.Value{value})
	}
	request := jsonvalue.NewObject(params.Len())
	for i, key := range params.Keys() {
		if key != n.one && key != n.one+"Name" {
			request.Set(key, params.At(i))
		}
	}
	request.Set(member, value)
	return request.Value(), nil
}

// find returns the EMR ID for a name. It reads EMR's listing page by page.
func (n namedInstances) find(ctx context.Context, o *Optimized, t *engine.Task, params jsonvalue.Value,
	name string) (jsonvalue.Value, error) {
	cluster, _ := params.Get("ClusterId")
	page := only("ClusterId", cluster)
	for {
		answer, err := o.Call(ctx, t.RoleARN, "List"+n.list, page)
		if err != nil {
			return answer, err
		}
		all, _ := answer.Get(n.list)
		for _, e := range all.Elements() {
			if v, _ := e.Get("Name"); v.Text() == name {
				id, _ := e.Get("Id")
				return id, nil
			}
		}
		marker, more := answer.Get("Marker")
		if !more {
			return answer, engine.NewFailure(o.prefix+".InvalidRequestException", "The cluster "+cluster.Text()+
				" has no "+n.one+" of the name "+name+".")
		}
		page = page.With("Marker", marker)
	}
}
