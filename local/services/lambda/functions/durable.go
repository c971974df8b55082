package functions

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/eventqueue"
	"stepback/tasks/lambda/invocation"
)

// Durable starts the executions of durable functions; *durablefunctions.Service implements it.
type Durable interface {
	// Invoke invokes a durable function, as the Invoke operation does.
	Invoke(ctx context.Context, v durablefunctions.Version, r *invocation.Request) (*invocation.Answer, error)
}

// StartDurable makes d start the executions of durable functions. Until then, their invocations are invocations of
// functions that are not durable. Call it before the first invocation.
func (s *Service) StartDurable(d Durable) { s.durable = d }

// durable returns the version that an invocation of a durable function runs. r is the request as the caller made it.
func (t *target) durable(r *invocation.Request) durablefunctions.Version {
	v := durablefunctions.Version{Scope: t.area.scope, Function: t.version.FunctionName, Number: t.version.Version,
		Tenants: t.version.TenancyConfig != nil, Traced: t.version.TracingConfig.Active()}
	if n, err := invocation.ParseName(r.FunctionName, r.Qualifier); err == nil {
		v.Qualified = n.Qualifier != ""
	}
	if d := t.version.DurableConfig; d != nil {
		v.Timeout, v.Retention = d.ExecutionTimeout, d.RetentionPeriodInDays
	}
	if _, ok := t.record.Aliases[t.asked]; ok {
		v.Alias = t.asked
	}
	return v
}

// Resolve implements durablefunctions.Functions.
func (s *Service) Resolve(scope aws.Scope, name string) (durablefunctions.Version, error) {
	r := &invocation.Request{FunctionName: name}
	resolved := *r
	t, err := s.resolve(scope, &resolved)
	if err != nil {
		return durablefunctions.Version{}, err
	}
	return t.durable(r), nil
}

// Run implements durablefunctions.Functions.
func (s *Service) Run(ctx context.Context, v durablefunctions.Version, r *invocation.Request) (*invocation.Answer, error) {
	a, record, err := s.find(v.Scope, v.Function, ":"+v.Number)
	if err != nil {
		return nil, err
	}
	c, ok := record.numbered(v.Number)
	if !ok {
		return nil, notFound("Function not found: %s:%s", a.arn(v.Function), v.Number)
	}
	if err := checkTenant(c, r); err != nil {
		return nil, err
	}
	return a.lambda.Invoke(ctx, r)
}

// checkTenant returns an error if a request names no tenant for a function that isolates tenants, or names one for a
// function that does not.
func checkTenant(c *Configuration, r *invocation.Request) error {
	switch {
	case c.TenancyConfig != nil && r.TenantID == "":
		return invalid("The invoked function is enabled with tenancy configuration. Add a valid tenant ID in your request and try again.")
	case c.TenancyConfig == nil && r.TenantID != "":
		return invalid("The invoked function is not enabled with tenancy configuration. Remove the tenant ID from your request and try again.")
	}
	return nil
}

// Destinations returns what sends the results of durable executions to the destinations and dead-letter queues of their
// functions.
func (s *Service) Destinations() durablefunctions.Destinations { return destinations{s} }

type destinations struct{ s *Service }

// route returns the configured handling of the results of a version, and where results with a status go: empty if
// nowhere, for example because the function has been deleted.
func (d destinations) route(v durablefunctions.Version, status string) (c *Configuration, how eventqueue.Handling, to string) {
	_, record, err := d.s.find(v.Scope, v.Function, ":"+v.Number)
	if err != nil {
		return nil, how, ""
	}
	c, ok := record.numbered(v.Number)
	if !ok {
		return nil, how, ""
	}
	how = handling(&target{record: record, version: c, asked: cmp.Or(v.Alias, v.Number)})
	if status == durable.Succeeded {
		return c, how, how.OnSuccess
	}
	return c, how, cmp.Or(how.OnFailure, how.DeadLetters)
}

// Expects implements durablefunctions.Destinations.
func (d destinations) Expects(v durablefunctions.Version, status string) bool {
	_, _, to := d.route(v, status)
	return to != ""
}

// Send implements durablefunctions.Destinations. The queue of asynchronous invocations delivers the result.
func (d destinations) Send(_ context.Context, e *durablefunctions.Ended) error {
	c, how, to := d.route(e.Version, e.Status)
	if to == "" {
		return nil
	}
	end := &eventqueue.End{Condition: eventqueue.Success, At: d.s.Now().UnixMilli(),
		Answer: &invocation.Answer{StatusCode: http.StatusOK, ExecutedVersion: c.Version}}
	switch {
	case e.Status != durable.Succeeded:
		end.Condition, end.Answer.FunctionError = eventqueue.RetriesExhausted, invocation.Unhandled
		text, err := json.Marshal(e.Error)
		if err != nil {
			return err
		}
		end.Answer.Payload = text
	case e.Result != nil:
		end.Answer.Payload = []byte(*e.Result)
	}
	return d.s.events.Accept(&eventqueue.Event{Scope: e.Version.Scope, Function: e.Version.Function,
		Version: e.Version.Number, InvokedARN: e.Version.ARN(), Handling: how,
		Payload: []byte(e.Input), Attempts: 1, End: end})
}
