package local

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/services/delivery"
	"stepback/local/services/iam/access"
	"stepback/local/services/iam/policy"
	"stepback/local/services/sns"
	"stepback/local/services/sts"
	"stepback/tasks/awssdk"
)

// deliveryActions maps the service of a target's ARN to the action that a sender performs on it, and to the service's
// model.
var deliveryActions = map[string]struct{ action, model string }{
	"sqs": {"sqs:SendMessage", "sqs"}, "sns": {"sns:Publish", "sns"}, "lambda": {"lambda:InvokeFunction", "lambda"},
	"states": {"states:StartExecution", "sfn"}, "logs": {"logs:PutLogEvents", "cloudwatchlogs"},
	"events": {"events:PutEvents", "eventbridge"},
}

// delivers implements delivery.Judge. A service with a role is authorized by that role; one without, by the target's
// resource policy.
func (g *guard) delivers(ctx context.Context, s delivery.Sender, to aws.ARN) error {
	act, ok := deliveryActions[to.Service]
	if !ok {
		return nil
	}
	need := access.Need{Action: act.action, Resource: to.String()}
	switch {
	case strings.HasPrefix(to.Resource, "api-destination/"):
		need.Action = "events:InvokeApiDestination"
	case strings.HasPrefix(to.Resource, "event-bus/") && s.Role == "" && sameAccount(s.Source, to):
		return nil // for example from a bus to another one in its account
	}
	role := s.Role
	if s.Service == "lambda.amazonaws.com" {
		if role = g.roleOf(ctx, s.Source); role == "" {
			return nil // the function no longer exists
		}
	}
	if role != "" {
		return g.authorizeRole(ctx, role, sessionOf(s.Service), act.model, []access.Need{need}, sourceContext(s))
	}
	scope := to.Scope()
	needs := []access.Need{need}
	for _, need := range append(needs, g.keyNeeds(ctx, nil, scope, needs)...) {
		if err := g.authorizeService(ctx, s, scope, act.model, need); err != nil {
			return err
		}
	}
	return nil
}

// authorizeService refuses a delivery unless the target's resource policy allows the service to make it on behalf
// of this source.
func (g *guard) authorizeService(ctx context.Context, s delivery.Sender, scope aws.Scope, model string, need access.Need) error {
	p := policy.Policies{NeedsResource: true}
	need.Resource, p.Resource, _ = g.resource(ctx, scope, policyModel(model, need), need)
	names := []string{s.Service}
	if s.Service == "logs.amazonaws.com" {
		names = append(names, "logs."+scope.Region+".amazonaws.com") // as function permissions often name it
	}
	about := sourceContext(s)
	about["aws:ResourceAccount"] = []string{scope.Account}
	keyUse(about, model, need.Action, scope, scope.Account)
	var d policy.Decision
	for _, name := range names {
		d = p.Evaluate(&policy.Request{Principal: policy.Principal{Service: name}, Action: need.Action,
			Resource: need.Resource, Account: scope.Account, Context: about})
		if d.Allowed {
			return nil
		}
	}
	return denied(model, s.Service, need, d.Reason)
}

// sessionOf returns the name of the sessions in which a service acts.
func sessionOf(service string) string {
	name, _, _ := strings.Cut(service, ".")
	return name
}

func sameAccount(source string, to aws.ARN) bool {
	from, _ := aws.ParseARN(source)
	return from.Account == to.Account
}

// sourceContext returns the condition keys for the source of a delivery.
func sourceContext(s delivery.Sender) policy.Context {
	c := policy.Context{"aws:SourceArn": {s.Source}, "aws:PrincipalIsAWSService": {"true"},
		"aws:PrincipalServiceName": {s.Service}, "aws:SecureTransport": {"true"}}
	from, _ := aws.ParseARN(s.Source)
	if from.Account != "" {
		c["aws:SourceAccount"] = []string{from.Account}
		if s.Service == "cloudwatch.amazonaws.com" {
			c["aws:SourceOwner"] = []string{from.Account}
		}
	}
	return c
}

// roleOf returns the role of a function; empty if the function does not exist.
func (g *guard) roleOf(ctx context.Context, function string) string {
	arn, ok := aws.ParseARN(function)
	if !ok {
		return ""
	}
	name, qualifier, _ := strings.Cut(strings.TrimPrefix(arn.Resource, "function:"), ":")
	in := map[string]any{"FunctionName": name}
	if qualifier != "" {
		in["Qualifier"] = qualifier
	}
	out := map[string]any{}
	if err := (platformAPI{p: g.p, scope: arn.Scope()}).Call(ctx, "lambda", "GetFunctionConfiguration", in, &out); err != nil {
		return ""
	}
	return member(out, "Role")
}

// authorizeRole refuses a request unless a session of the role may do it.
func (g *guard) authorizeRole(
	ctx context.Context,
	role, session, model string,
	needs []access.Need,
	also policy.Context,
) error {
	keys, ok, err := sts.Stand(g.p.Documents, role, session)
	if err != nil {
		return err
	}
	arn, _ := aws.ParseARN(role)
	if !ok {
		return denied(model, role, needs[0], "because it is no role")
	}
	scope := aws.Scope{Account: arn.Account, Region: g.p.Scope.Region}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.p.Endpoint, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set(
		"Authorization",
		"AWS4-HMAC-SHA256 Credential="+keys.Key+"/20260101/"+scope.Region+"/"+model+"/aws4_request",
	)
	return g.decide(ctx, r, scope, model, needs, also)
}

// withRole returns a context whose requests are authorized and made with the keys of a role. If the guard is nil or
// the role empty, it changes nothing.
func (g *guard) withRole(ctx context.Context, role, session string) (context.Context, sts.Standing, error) {
	if g == nil || role == "" {
		return ctx, sts.Standing{}, nil
	}
	keys, ok, err := sts.Stand(g.p.Documents, role, session)
	if err != nil || !ok {
		return ctx, sts.Standing{}, err
	}
	ctx = context.WithValue(g.withAuthorizer(ctx), actingKey{}, keys.Key)
	return awssdk.WithKeys(ctx, credentials.NewStaticCredentialsProvider(keys.Key, keys.Secret, keys.Token)), keys, nil
}

// withCaller returns a context in which calls signed with the access key of an earlier client are authorized. It
// returns an error if the key has been deleted or has expired since, because unknown keys may do everything.
func (g *guard) withCaller(ctx context.Context, key string, scope aws.Scope) (context.Context, error) {
	if g == nil || key == "" {
		return ctx, nil
	}
	a, err := g.callerOf(key, scope)
	if err != nil {
		return ctx, err
	}
	if a == nil {
		return ctx, &aws.Error{Code: "UnrecognizedClientException", Status: http.StatusForbidden,
			Message: "The security token included in the request is invalid."}
	}
	ctx = context.WithValue(g.withAuthorizer(ctx), actingKey{}, key)
	return awssdk.WithKeys(ctx, credentials.NewStaticCredentialsProvider(key, "local", "")), nil
}

// judgedQueues accepts messages of topics only if the queue's policy allows them.
type judgedQueues struct {
	sns.Queues
	targets *delivery.Targets
}

// DeliverAll implements sns.Queues.
func (q judgedQueues) DeliverAll(letters []delivery.Letter) []error {
	if !q.targets.Judging() {
		return q.Queues.DeliverAll(letters)
	}
	errs, let, at := make([]error, len(letters)), []delivery.Letter{}, []int{}
	for i, l := range letters {
		if errs[i] = q.targets.AllowedFor(context.Background(), l.From, l.To.String()); errs[i] == nil {
			let, at = append(let, l), append(at, i)
		}
	}
	for i, err := range q.Queues.DeliverAll(let) {
		errs[at[i]] = err
	}
	return errs
}

// httpTasks returns an integration that carries out an HTTP Task only if the role may call the endpoint and may
// read the connection and its secret. If g is nil, it returns next.
func (g *guard) httpTasks(next engine.Integration) engine.Integration {
	if g == nil {
		return next
	}
	return engine.Around(next, func(ctx context.Context, t *engine.Task, to engine.Integration) (engine.Result, error) {
		if role := cmp.Or(t.RoleARN, t.MachineRoleARN); role != "" {
			if err := g.authorizeHTTPTask(ctx, t, role); err != nil {
				return nil, err
			}
		}
		return to.Invoke(ctx, t)
	})
}

// authorizeHTTPTask refuses an HTTP Task that a role is not allowed to carry out.
func (g *guard) authorizeHTTPTask(ctx context.Context, t *engine.Task, role string) error {
	params, err := t.Value()
	if err != nil {
		return err
	}
	text := func(path ...string) string {
		v := params
		for _, name := range path {
			v, _ = v.Get(name)
		}
		if v.Kind() != jsonvalue.String {
			return ""
		}
		return v.Text()
	}
	connection := cmp.Or(text("Authentication", "ConnectionArn"), text("InvocationConfig", "ConnectionArn"))
	steps := []struct {
		model string
		need  access.Need
	}{
		{"sfn", access.Need{Action: "states:InvokeHTTPEndpoint", Resource: machineOf(t.Execution)}},
		{"eventbridge", access.Need{Action: "events:RetrieveConnectionCredentials", Resource: connection}},
	}
	if secret := g.secretOf(ctx, connection); secret != "" {
		steps = append(steps, struct {
			model string
			need  access.Need
		}{"secretsmanager", access.Need{Action: "secretsmanager:GetSecretValue", Resource: secret}})
	}
	also := policy.Context{"states:HTTPMethod": {text("Method")}, "states:HTTPEndpoint": {text("ApiEndpoint")}}
	for _, s := range steps {
		err := g.authorizeRole(ctx, role, ofMachines, s.model, []access.Need{s.need}, also)
		if refused, ok := err.(*aws.Error); ok { //nolint:errorlint // it is not wrapped
			return engine.NewFailure("States.Permissions", refused.Message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// machineOf returns the ARN of the state machine of an execution; "*" if there is none, as in TestState.
func machineOf(execution string) string {
	arn, ok := aws.ParseARN(execution)
	parts := strings.Split(arn.Resource, ":")
	if !ok || len(parts) < 2 {
		return "*"
	}
	name, _, _ := strings.Cut(parts[1], "/") // a child of a Map Run
	arn.Resource = "stateMachine:" + name
	return arn.String()
}

// secretOf returns the secret of a connection; empty if it has none.
func (g *guard) secretOf(ctx context.Context, connection string) string {
	arn, ok := aws.ParseARN(connection)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(arn.Resource, "connection/"), "/")
	out := map[string]any{}
	if err := (platformAPI{p: g.p, scope: arn.Scope()}).Call(ctx, "eventbridge", "DescribeConnection",
		map[string]any{"Name": name}, &out); err != nil {
		return ""
	}
	return member(out, "SecretArn")
}
