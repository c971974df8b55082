package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/services/iam"
	"stepback/local/services/iam/access"
	"stepback/local/services/iam/policy"
	"stepback/local/services/sts"
)

// guard authorizes requests from outside by the policies of IAM. Requests signed with the access key of an IAM user
// or an STS session are checked; all others count as the account's root user, who may do everything. Requests between
// services of the platform do not pass through the guard.
type guard struct {
	p     *Platform
	roles *iam.Service
}

// around makes the services behind a handler authorize requests before they carry them out.
func (g *guard) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(g.withAuthorizer(r.Context())))
	})
}

type guardKey struct{}

// withAuthorizer returns a context whose requests are authorized by the guard.
func (g *guard) withAuthorizer(ctx context.Context) context.Context {
	return context.WithValue(server.WithAuthorizer(ctx, g.authorize), guardKey{}, g)
}

// authorizeObjects authorizes a request to S3, which determines the operation of a request itself.
func (p *Platform) authorizeObjects(r *http.Request, keys func() policy.Context) error {
	g, ok := r.Context().Value(guardKey{}).(*guard)
	if !ok {
		return nil
	}
	return g.decide(r.Context(), r, server.ScopeOf(r, p.Scope), "s3", access.OfS3(r), keys())
}

// signerOfObjects returns the user or role that signed a request to S3; the ARN is empty for the root user.
func (p *Platform) signerOfObjects(r *http.Request) (policy.Principal, error) {
	key := server.AccessKey(r)
	if _, ok := aws.AccountOfKey(key); !ok {
		return policy.Principal{}, nil
	}
	scope := server.ScopeOf(r, p.Scope)
	arn, err := p.principalOf(key, scope)
	return policy.Principal{ARN: arn, Account: scope.Account}, err
}

// secretOfObjects returns the secret access key of a user or a session. Signatures are verified only if the policies of
// IAM are enforced, and not of what this process asks on behalf of a caller, whose secret it may not know.
func (p *Platform) secretOfObjects(r *http.Request, key string) (secret string, known bool, err error) {
	account, ok := aws.AccountOfKey(key)
	if _, guarded := r.Context().Value(guardKey{}).(*guard); !ok || !guarded || loopback.Inside(r) {
		return "", false, nil
	}
	if secret, known, err = p.roles.SecretOf(account, key); known || err != nil {
		return secret, known, err
	}
	c, found, err := sts.CallerOf(p.Documents, key)
	return c.Secret, found && c.Secret != "", err
}

// authorize implements server.Authorizer for all other services.
func (g *guard) authorize(ctx context.Context, model, operation string, r *server.Request) error {
	if model == "sts" && operation != "AssumeRole" {
		return nil // anyone may look up their own identity
	}
	needs := access.Of(model, operation, r.Input, r.Scope)
	if model == "apigatewayv2" {
		needs[0] = access.OfGateway(r.HTTP.Method, r.HTTP.URL.Path, r.Scope)
	}
	if model == "sfn" && strings.HasPrefix(operation, "SendTask") {
		return g.authorizeReport(ctx, r, needs)
	}
	return g.decide(ctx, r.HTTP, r.Scope, model, needs, requestContext(r.Input))
}

// authorizeReport authorizes a report with a task token: the caller needs permission for the state machine whose
// execution issued the token, or for an activity. The token does not show which of the account's activities it is
// for.
func (g *guard) authorizeReport(ctx context.Context, r *server.Request, needs []access.Need) error {
	token, _ := r.Input.Get("taskToken")
	arn := ""
	if token.Kind() == jsonvalue.String {
		arn, _ = engine.ExecutionOfToken(token.Text())
	}
	execution, ok := aws.ParseARN(arn)
	if !ok {
		return g.decide(ctx, r.HTTP, r.Scope, "sfn", needs, policy.Context{})
	}
	machine, _, _ := strings.Cut(strings.TrimPrefix(execution.Resource, "execution:"), ":")
	machine, _, _ = strings.Cut(machine, "/") // for child executions of a Map Run
	of := func(resource string) error {
		one := []access.Need{{Action: needs[0].Action, Resource: resource}}
		return g.decide(ctx, r.HTTP, r.Scope, "sfn", one, policy.Context{})
	}
	refusal := of(execution.Scope().ARN("states", "stateMachine:"+machine))
	if refusal == nil {
		return nil
	}
	next := ""
	for {
		in, out := map[string]any{}, struct {
			Activities []struct {
				ActivityArn string `json:"activityArn"`
			} `json:"activities"`
			NextToken string `json:"nextToken"`
		}{}
		if next != "" {
			in["nextToken"] = next
		}
		if err := (platformAPI{p: g.p, scope: execution.Scope()}).Call(ctx, "sfn", "ListActivities", in, &out); err != nil {
			return err
		}
		for _, a := range out.Activities {
			if of(a.ActivityArn) == nil {
				return nil
			}
		}
		if next = out.NextToken; next == "" {
			return refusal
		}
	}
}

// requestContext returns the condition keys that come from the request's input: its tags.
func requestContext(input jsonvalue.Value) policy.Context {
	context := policy.Context{}
	if id, ok := input.Get("ExternalId"); ok { // of AssumeRole
		context["sts:ExternalId"] = []string{id.Text()}
	}
	for _, member := range []string{"Tags", "tags"} {
		tags, _ := input.Get(member)
		add := func(key, value string) {
			context["aws:RequestTag/"+key] = []string{value}
			context["aws:TagKeys"] = append(context["aws:TagKeys"], key)
		}
		for i, key := range tags.Keys() {
			add(key, tags.At(i).Text())
		}
		for _, e := range tags.Elements() {
			key, _ := e.Get("Key")
			value, _ := e.Get("Value")
			if key.Kind() == jsonvalue.String {
				add(key.Text(), value.Text())
			}
		}
	}
	return context
}

// asker is the caller of a request, with the policies that apply to it.
type asker struct {
	policy.Principal
	grants  *iam.Grants
	session *policy.Policy
	context policy.Context
}

// callerOf returns the owner of an access key; nil for the root user.
func (g *guard) callerOf(key string, scope aws.Scope) (*asker, error) {
	user, active, found, err := g.roles.UserOfKey(scope.Account, key)
	if err != nil {
		return nil, err
	}
	if found {
		if !active {
			return nil, &aws.Error{Code: "UnrecognizedClientException", Status: http.StatusForbidden,
				Message: "The security token included in the request is invalid."}
		}
		name, err := g.roles.ARNOfUser(scope.Account, user)
		if err != nil {
			return nil, err
		}
		arn, _ := aws.ParseARN(name)
		a := &asker{Principal: policy.Principal{ARN: name, Account: scope.Account},
			context: policy.Context{"aws:username": {user}, "aws:PrincipalType": {"User"}, "aws:PrincipalArn": {name}}}
		a.grants, err = g.roles.GrantsOf(arn)
		return a, err
	}
	c, found, err := sts.CallerOf(g.p.Documents, key)
	arn, ok := aws.ParseARN(c.ARN)
	role, session, isRole := strings.Cut(strings.TrimPrefix(arn.Resource, "assumed-role/"), "/")
	if err != nil || !found || !ok || !isRole || !strings.HasPrefix(arn.Resource, "assumed-role/") {
		return nil, err // the root user, also with a session token
	}
	if !c.Until.IsZero() && g.p.Clock.Now().After(c.Until) {
		return nil, &aws.Error{Code: "ExpiredTokenException", Status: http.StatusForbidden,
			Message: "The security token included in the request is expired"}
	}
	of := aws.Scope{Account: c.Account}
	a := &asker{Principal: policy.Principal{ARN: c.ARN, Account: c.Account, Role: of.GlobalARN("iam", "role/"+role)},
		context: policy.Context{"aws:PrincipalType": {"AssumedRole"}, "aws:userid": {c.UserID}, "sts:RoleSessionName": {session}}}
	a.context["aws:PrincipalArn"] = []string{a.Role}
	if c.Policy != "" {
		if a.session, err = policy.Parse(c.Policy); err != nil {
			return nil, err
		}
	}
	roleARN, _ := aws.ParseARN(a.Role)
	a.grants, err = g.roles.GrantsOf(roleARN)
	if errors.As(err, new(*aws.Error)) { // the role does not exist, or no longer, and allows nothing
		a.grants, err = &iam.Grants{}, nil
	}
	return a, err
}

// decide refuses a request unless all its needs are allowed.
func (g *guard) decide(ctx context.Context, r *http.Request, scope aws.Scope, model string, needs []access.Need,
	context policy.Context) error {
	a, err := g.callerOf(server.AccessKey(r), scope)
	if a == nil || err != nil {
		return err
	}
	g.fill(context, a, r, scope)
	for _, need := range append(needs[:len(needs):len(needs)], g.keyNeeds(ctx, r, scope, needs)...) {
		keyUse(context, model, need.Action, scope, a.Account)
		delete(context, passedTo)
		if need.Action == access.PassRole {
			context[passedTo] = []string{access.PassedTo(model)}
		}
		delete(context, machineQualifier)
		var qualifier string
		if need.Resource, qualifier = access.Unqualified(need.Resource); qualifier != "" {
			context[machineQualifier] = []string{qualifier}
		}
		p := policy.Policies{Identity: a.grants.Identity, Boundary: a.grants.Boundary, Session: a.session}
		need.Resource, p.Resource, p.NeedsResource = g.resource(ctx, scope, policyModel(model, need), need)
		resource, _ := aws.ParseARN(need.Resource)
		owner := cmp.Or(resource.Account, a.Account) // ARNs of buckets and objects have no account
		context["aws:ResourceAccount"] = []string{owner}
		if model == "s3" {
			context["s3:ResourceAccount"] = []string{owner}
		}
		d := p.Evaluate(&policy.Request{Principal: a.Principal, Action: need.Action, Resource: need.Resource,
			Account: owner, Context: context})
		if !d.Allowed {
			return denied(model, a.ARN, need, d.Reason)
		}
	}
	return nil
}

// passedTo is the condition key for the service that a role is passed to. machineQualifier is the condition key for
// a state machine's version or alias.
const (
	passedTo         = "iam:PassedToService"
	machineQualifier = "states:StateMachineQualifier"
)

// fill adds the condition keys that every request has.
func (g *guard) fill(c policy.Context, a *asker, r *http.Request, scope aws.Scope) {
	now := g.p.Clock.Now().UTC()
	for key, values := range a.context {
		c[key] = values
	}
	for key, value := range a.grants.Tags {
		c["aws:PrincipalTag/"+key] = []string{value}
	}
	c["aws:PrincipalAccount"], c["aws:RequestedRegion"] = []string{a.Account}, []string{scope.Region}
	c["aws:CurrentTime"], c["aws:EpochTime"] = []string{now.Format(time.RFC3339)}, []string{strconv.FormatInt(now.Unix(), 10)}
	// On AWS these clients would use TLS, so the request counts as secure: policies that refuse plain HTTP, such as
	// those of CDK's own bucket, are not meant for this address.
	c["aws:SecureTransport"], c["aws:UserAgent"] = []string{"true"}, []string{r.UserAgent()}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		c["aws:SourceIp"] = []string{host}
	}
}

// denied returns the error of a refusal, with the code that the service uses.
func denied(model, who string, need access.Need, reason string) error {
	code, status := "AccessDeniedException", http.StatusBadRequest
	switch model {
	case "iam", "sts", "s3", "cloudformation", "cloudwatch", "sqs":
		code, status = "AccessDenied", http.StatusForbidden
	case "sns":
		code, status = "AuthorizationError", http.StatusForbidden
	case "lambda", "scheduler":
		status = http.StatusForbidden
	}
	switch byKey := strings.HasPrefix(need.Action, "kms:"); {
	case byKey && model == "sqs":
		code, status = "KmsAccessDenied", http.StatusBadRequest
	case byKey && model == "sns":
		code, status = "KMSAccessDenied", http.StatusBadRequest
	case byKey && model == "secretsmanager":
		return &aws.Error{Code: code, Status: status, Message: "Access to KMS is not allowed"}
	}
	resource := need.Resource
	if strings.HasPrefix(need.Action, "s3:") {
		resource = strconv.Quote(resource)
	}
	return &aws.Error{Code: code, Status: status, Message: fmt.Sprintf("User: %s is not authorized to perform: %s on "+
		"resource: %s %s", who, need.Action, resource, reason)}
}

// callAsPlatform returns a function that calls services of an account and region as the platform itself. The function
// returns nil if a call fails.
func (g *guard) callAsPlatform(ctx context.Context, of aws.Scope) func(service, operation string, in map[string]any) map[string]any {
	return func(service, operation string, in map[string]any) map[string]any {
		out := map[string]any{}
		if (platformAPI{p: g.p, scope: of}).Call(ctx, service, operation, in, &out) != nil {
			return nil
		}
		return out
	}
}

// resource returns the policy of a resource and the name by which policies refer to it, which differs for secrets and
// keys. needed is true if nothing is allowed without that policy.
func (g *guard) resource(ctx context.Context, scope aws.Scope, model string, need access.Need) (name string,
	p *policy.Policy, needed bool) {
	name = need.Resource
	arn, ok := aws.ParseARN(name)
	if !ok {
		return name, nil, false
	}
	if model == "sts" {
		grants, err := g.roles.GrantsOf(arn)
		if err != nil {
			return name, nil, true
		}
		return name, grants.Trust, true
	}
	of := aws.Scope{Account: cmp.Or(arn.Account, scope.Account), Region: cmp.Or(arn.Region, scope.Region)}
	call := g.callAsPlatform(ctx, of)
	text := ""
	switch model {
	case "sqs":
		out := call("sqs", "GetQueueAttributes", map[string]any{"QueueUrl": g.p.Endpoint + "/" + of.Account + "/" + arn.Resource,
			"AttributeNames": []string{"Policy"}})
		text = member(out, "Attributes", "Policy")
	case "sns":
		text = member(call("sns", "GetTopicAttributes", map[string]any{"TopicArn": name}), "Attributes", "Policy")
	case "lambda":
		parts := strings.Split(arn.Resource, ":")
		in := map[string]any{"FunctionName": parts[min(1, len(parts)-1)]}
		if len(parts) > 2 {
			in["Qualifier"] = parts[2]
		}
		text = member(call("lambda", "GetPolicy", in), "Policy")
	case "kms":
		id := strings.TrimPrefix(arn.Resource, "key/")
		if key := member(call("kms", "DescribeKey", map[string]any{"KeyId": id}), "KeyMetadata", "Arn"); key != "" {
			name, needed = key, true
			text = member(call("kms", "GetKeyPolicy", map[string]any{"KeyId": key, "PolicyName": "default"}), "Policy")
		}
	case "eventbridge":
		if bus, ok := strings.CutPrefix(arn.Resource, "event-bus/"); ok {
			text = member(call("eventbridge", "DescribeEventBus", map[string]any{"Name": bus}), "Policy")
		}
	case "secretsmanager":
		id := name
		if full := member(call("secretsmanager", "DescribeSecret", map[string]any{"SecretId": strings.TrimPrefix(arn.Resource,
			"secret:")}), "ARN"); full != "" {
			id, name = full, full
		}
		text = member(call("secretsmanager", "GetResourcePolicy", map[string]any{"SecretId": id}), "ResourcePolicy")
	case "s3":
		bucket, _, _ := strings.Cut(arn.Resource, "/")
		text = member(call("s3", "GetBucketPolicy", map[string]any{"Bucket": bucket}), "Policy")
	case "cloudwatchlogs":
		return name, g.logPolicy(call), false
	case "dynamodb":
		text = member(call("dynamodb", "GetResourcePolicy", map[string]any{"ResourceArn": name}), "Policy")
	}
	if text == "" {
		return name, nil, needed
	}
	p, err := policy.Parse(text)
	if err != nil {
		g.p.cfg.Log.Warn("a policy cannot be read and allows nothing", "resource", name, "error", err)
		return name, nil, needed
	}
	return name, p, needed
}

// logPolicy returns all resource policies for log groups, combined; nil if there are none.
func (g *guard) logPolicy(call func(service, operation string, in map[string]any) map[string]any) *policy.Policy {
	all := &policy.Policy{}
	list, _ := call("cloudwatchlogs", "DescribeResourcePolicies", map[string]any{})["resourcePolicies"].([]any)
	for _, e := range list {
		one, _ := e.(map[string]any)
		if p, err := policy.Parse(member(one, "policyDocument")); err == nil {
			all.Statements = append(all.Statements, p.Statements...)
		}
	}
	return all
}

// member returns a string within a response.
func member(out map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		out, _ = out[name].(map[string]any)
	}
	text, _ := out[path[len(path)-1]].(string)
	return text
}
