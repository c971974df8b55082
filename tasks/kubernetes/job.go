package kubernetes

import (
	"context"
	"net/http"
	"net/url"

	"stepback/engine"
	"stepback/jsonvalue"
)

// Job performs eks:runJob, which starts a job (batch/v1). With jobs.Wait it also performs .sync.
type Job struct{ API *API }

// Invoke implements engine.Integration.
func (j Job) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	p := parameters{params: params}
	r := p.cluster()
	r.method, r.path, r.kind = http.MethodPost, p.jobs(), "application/json"
	job, given := params.Get("Job")
	if !given {
		p.text("Job", true)
	}
	r.body = content(job)
	p.only("ClusterName", "CertificateAuthority", "Endpoint", "Namespace", "Job", "LogOptions")
	options, _ := params.Get("LogOptions")
	p.lists("LogParameters", options)
	if err := p.err(t); err != nil {
		return nil, err
	}
	a, err := j.API.do(ctx, r)
	if err != nil {
		return nil, err
	}
	return engine.ValueResult(a.value()), nil
}

// namespace returns the job's namespace.
func (p *parameters) namespace() string {
	if name := p.text("Namespace", false); name != "" {
		return url.PathEscape(name)
	}
	return "default"
}

// jobs returns the path of the jobs in the namespace.
func (p *parameters) jobs() string { return "/apis/batch/v1/namespaces/" + p.namespace() + "/jobs" }

// Call reads a job (ReadJob), reads an ended job together with its logs (ReadLogs), or deletes a job with its pods
// (DeleteJob). Name identifies the job; the cluster is given as in a task. The role is not used: a cluster identifies
// its caller by the token.
func (j Job) Call(ctx context.Context, _, action string, params jsonvalue.Value) (jsonvalue.Value, error) {
	p := parameters{params: params}
	r := p.cluster()
	name := p.text("Name", true)
	r.method, r.path = http.MethodGet, p.jobs()+"/"+url.PathEscape(name)
	if err := p.err(&engine.Task{Parameters: params.JSON()}); err != nil {
		return jsonvalue.Value{}, err
	}
	switch action {
	case "ReadJob", "ReadLogs":
	case "DeleteJob":
		r.method, r.query = http.MethodDelete, url.Values{"propagationPolicy": {"Background"}}
	default:
		return jsonvalue.Value{}, engine.NewFailure(engine.StatesRuntime, "The action "+action+
			" of Kubernetes is not supported.")
	}
	a, err := j.API.do(ctx, r)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	result := a.value()
	options, _ := params.Get("LogOptions")
	if wanted, _ := options.Get("RetrieveLogs"); action != "ReadLogs" || !wanted.Bool() {
		return result, nil
	}
	job, _ := result.Get("ResponseBody")
	return result.With("ResponseBody", job.With("logs", j.logs(ctx, &p, name, options))), nil
}
