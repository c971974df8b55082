package kubernetes

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"stepback/engine"
	"stepback/jsonvalue"
)

// logs reads the logs of the containers in a job's pods. A log that cannot be read is replaced by an error and a
// cause.
func (j Job) logs(ctx context.Context, p *parameters, name string, options jsonvalue.Value) jsonvalue.Value {
	r := p.cluster()
	r.method, r.path = http.MethodGet, "/api/v1/namespaces/"+p.namespace()+"/pods"
	r.query = url.Values{"labelSelector": {"job-name=" + name}}
	a, err := j.API.do(ctx, r)
	if err != nil {
		return unreadableLog(err)
	}
	items, _ := parsed(a.body).Get("items")
	pods := jsonvalue.NewObject(items.Len())
	for _, pod := range items.Elements() {
		metadata, _ := pod.Get("metadata")
		id, _ := metadata.Get("name")
		pods.Set(id.Text(), only("containers", j.containers(ctx, p, pod, id.Text(), options)))
	}
	return only("pods", pods.Value())
}

// containers reads the logs of a pod's containers.
func (j Job) containers(ctx context.Context, p *parameters, pod jsonvalue.Value, id string,
	options jsonvalue.Value) jsonvalue.Value {
	spec, _ := pod.Get("spec")
	all, _ := spec.Get("containers")
	raw, _ := options.Get("RawLogs")
	b := jsonvalue.NewObject(all.Len())
	for _, c := range all.Elements() {
		name, _ := c.Get("name")
		r := p.cluster()
		r.method, r.path = http.MethodGet, "/api/v1/namespaces/"+p.namespace()+"/pods/"+url.PathEscape(id)+"/log"
		if r.query = p.lists("LogParameters", options); r.query == nil {
			r.query = url.Values{}
		}
		r.query.Set("container", name.Text())
		a, err := j.API.do(ctx, r)
		switch {
		case err != nil:
			b.Set(name.Text(), unreadableLog(err))
		case raw.Bool():
			b.Set(name.Text(), only("log", jsonvalue.OfString(a.body)))
		default:
			b.Set(name.Text(), only("log", parsed(a.body)))
		}
	}
	return b.Value()
}

// unreadableLog replaces a log that could not be read.
func unreadableLog(err error) jsonvalue.Value {
	failed := &engine.Failure{Cause: err.Error()}
	_ = errors.As(err, &failed)
	b := jsonvalue.NewObject(2)
	b.Set("error", jsonvalue.OfString(failed.Name))
	b.Set("cause", jsonvalue.OfString(failed.Cause))
	return b.Value()
}

func only(name string, v jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(1)
	b.Set(name, v)
	return b.Value()
}
