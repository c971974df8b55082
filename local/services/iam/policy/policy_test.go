package policy_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/local/services/iam/policy"
)

func parsed(t testing.TB, text string) *policy.Policy {
	t.Helper()
	if text == "" {
		return nil
	}
	p, err := policy.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func statement(s string) string { return `{"Version":"2012-10-17","Statement":[` + s + `]}` }

const queue = "arn:aws:sqs:us-east-1:111111111111:jobs"

var ann = policy.Principal{ARN: "arn:aws:iam::111111111111:user/ann", Account: "111111111111"}

func TestStatements(t *testing.T) {
	t.Parallel()
	context := policy.Context{"aws:username": {"ann"}, "aws:SourceIp": {"10.1.2.3"}, "aws:CurrentTime": {"2026-11-22T10:00:00Z"},
		"s3:max-keys": {"10"}, "aws:SecureTransport": {"false"}, "aws:TagKeys": {"team", "cost"}, "aws:SourceArn": {queue}}
	for text, want := range map[string]bool{
		`{"Effect":"Allow","Action":"*","Resource":"*"}`:                                                                                           true,
		`{"Effect":"Allow","Action":"SQS:send*","Resource":"*"}`:                                                                                   true,
		`{"Effect":"Allow","Action":"sqs:Send?essage","Resource":"arn:aws:sqs:*:*:jobs"}`:                                                          true,
		`{"Effect":"Allow","Action":["sqs:Get*","sns:*"],"Resource":"*"}`:                                                                          false,
		`{"Effect":"Allow","Action":"sqs:SendMessage","Resource":"arn:aws:sqs:us-east-1:111111111111:JOBS"}`:                                       false,
		`{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`:                                                                                    true,
		`{"Effect":"Allow","NotAction":"sqs:*","Resource":"*"}`:                                                                                    false,
		`{"Effect":"Allow","Action":"*","NotResource":"arn:aws:sqs:*:*:secret*"}`:                                                                  true,
		`{"Effect":"Allow","Action":"*","NotResource":"arn:aws:sqs:*:*:j*"}`:                                                                       false,
		`{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"sqs:*","Resource":"*"}`:                                         false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:username":["bob","ann"]}}}`:                               true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"AWS:UserName":"Ann"}}}`:                                       false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEqualsIgnoreCase":{"aws:username":"Ann"}}}`:                             true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringLike":{"aws:username":"a*"},"IpAddress":{"aws:SourceIp":"9.0.0.0/8"}}}`: false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}`:                                   true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"NotIpAddress":{"aws:SourceIp":"10.1.2.3"}}}`:                                  false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringNotEquals":{"aws:username":["bob","ann"]}}}`:                            false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringNotEquals":{"aws:nothing":"x"}}}`:                                       true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:nothing":"x"}}}`:                                          false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEqualsIfExists":{"aws:nothing":"x"}}}`:                                  true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"Null":{"aws:nothing":"true","aws:username":false}}}`:                          true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":false}}}`:                                        true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"NumericLessThanEquals":{"s3:max-keys":10}}}`:                                  true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"NumericGreaterThan":{"s3:max-keys":"10"}}}`:                                   false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"DateGreaterThan":{"aws:CurrentTime":"2026-11-22"}}}`:                          true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"2026-11-22T09:59:59Z"}}}`:                   false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:sqs:*:111111111111:*"}}}`:                  true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ArnEquals":{"aws:SourceArn":"arn:aws:sns:*:*:*"}}}`:                           false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAllValues:StringEquals":{"aws:TagKeys":["team","cost","x"]}}}`:             true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAllValues:StringEquals":{"aws:TagKeys":["team"]}}}`:                        false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAnyValue:StringEquals":{"aws:TagKeys":["team"]}}}`:                         true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAnyValue:StringEquals":{"aws:nothing":["team"]}}}`:                         false,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAllValues:StringEquals":{"aws:nothing":["team"]}}}`:                        true,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:username":"${aws:username}"}}}`:                           true,
	} {
		d := (&policy.Policies{Identity: []*policy.Policy{parsed(t, statement(text))}}).Evaluate(&policy.Request{
			Principal: ann, Action: "sqs:SendMessage", Resource: queue, Context: context})
		if d.Allowed != want {
			t.Errorf("%s: %+v, want %t", text, d, want)
		}
	}
	own := parsed(t, statement(`{"Effect":"Allow","Action":"s3:*","Resource":"arn:aws:s3:::home/${aws:username}/*"}`))
	for resource, want := range map[string]bool{"arn:aws:s3:::home/ann/x/y": true, "arn:aws:s3:::home/bob/x": false} {
		d := (&policy.Policies{Identity: []*policy.Policy{own}}).Evaluate(&policy.Request{Principal: ann, Action: "s3:GetObject",
			Resource: resource, Context: context})
		if d.Allowed != want {
			t.Errorf("%s: %+v", resource, d)
		}
	}
}

func TestKindsOfPolicies(t *testing.T) {
	t.Parallel()
	const everything = `{"Effect":"Allow","Action":"*","Resource":"*"}`
	resource := func(principal, effect string) string {
		return statement(`{"Effect":"` + effect + `","Principal":` + principal + `,"Action":"sqs:*","Resource":"*"}`)
	}
	const (
		noIdentity = "because no identity-based policy allows the sqs:SendMessage action"
		noResource = "because no resource-based policy allows the sqs:SendMessage action"
	)
	for name, c := range map[string]struct {
		identity, resource, boundary, session string
		account                               string
		needs                                 bool
		want                                  string // the reason; empty if allowed
	}{
		"nothing":                     {want: noIdentity},
		"identity":                    {identity: statement(everything)},
		"resource":                    {resource: resource(`{"AWS":"arn:aws:iam::111111111111:user/ann"}`, "Allow")},
		"anyone":                      {resource: resource(`"*"`, "Allow")},
		"another":                     {resource: resource(`{"AWS":"arn:aws:iam::111111111111:user/bob"}`, "Allow"), want: noIdentity},
		"account delegates":           {resource: resource(`{"AWS":"arn:aws:iam::111111111111:root"}`, "Allow"), want: noIdentity},
		"resource denies":             {identity: statement(everything), resource: resource(`"*"`, "Deny"), want: "with an explicit deny in a resource-based policy"},
		"boundary":                    {identity: statement(everything), boundary: statement(`{"Effect":"Allow","Action":"sns:*","Resource":"*"}`), want: "because no permissions boundary allows the sqs:SendMessage action"},
		"boundary denies":             {identity: statement(everything), boundary: statement(everything + `,{"Effect":"Deny","Action":"sqs:*","Resource":"*"}`), want: "with an explicit deny in a permissions boundary"},
		"session":                     {identity: statement(everything), session: statement(`{"Effect":"Allow","Action":"sns:*","Resource":"*"}`), want: "because no session policy allows the sqs:SendMessage action"},
		"across, identity only":       {identity: statement(everything), account: "222222222222", want: noResource},
		"across, resource only":       {resource: resource(`{"AWS":"111111111111"}`, "Allow"), account: "222222222222", want: noIdentity},
		"across, both":                {identity: statement(everything), resource: resource(`{"AWS":"111111111111"}`, "Allow"), account: "222222222222"},
		"key without policy":          {identity: statement(everything), needs: true, want: noResource},
		"key that leaves it to IAM":   {identity: statement(everything), needs: true, resource: resource(`{"AWS":"arn:aws:iam::111111111111:root"}`, "Allow")},
		"key that leaves it, and IAM": {needs: true, resource: resource(`{"AWS":"arn:aws:iam::111111111111:root"}`, "Allow"), want: noIdentity},
		"not for others":              {identity: statement(everything), resource: statement(`{"Effect":"Deny","NotPrincipal":{"AWS":"arn:aws:iam::111111111111:user/bob"},"Action":"*","Resource":"*"}`), want: "with an explicit deny in a resource-based policy"},
	} {
		p := policy.Policies{Resource: parsed(t, c.resource), Boundary: parsed(t, c.boundary),
			Session: parsed(t, c.session), NeedsResource: c.needs}
		if c.identity != "" {
			p.Identity = []*policy.Policy{parsed(t, c.identity)}
		}
		d := p.Evaluate(&policy.Request{Principal: ann, Action: "sqs:SendMessage", Resource: queue, Account: c.account})
		if d.Allowed != (c.want == "") || d.Reason != c.want {
			t.Errorf("%s: %+v, want %q", name, d, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`x`: "the policy is not in the form of a policy",
		statement(`{"Effect":"Maybe","Action":"*","Resource":"*"}`):                                    "statement 1: Effect is \"Maybe\"",
		statement(`{"Effect":"Allow","Resource":"*"}`):                                                 "statement 1: exactly one of Action and NotAction is expected",
		statement(`{"Effect":"Allow","Action":"*","Resource":"*","Principal":"me"}`):                   "statement 1: the Principal \"me\" is not known",
		statement(`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringIs":{"a":"b"}}}`): "statement 1: the condition operator StringIs is not known",
		statement(`{"Effect":"Allow","Action":{"a":1},"Resource":"*"}`):                                "a string or a list of strings is expected",
	} {
		if _, err := policy.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// drawn returns a random policy over a few actions and resources, with or without conditions.
func drawn(t *rapid.T, effects ...string) string {
	one := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	var all []string
	for range rapid.IntRange(0, 4).Draw(t, "statements") {
		s := `{"Effect":"` + one("effect", effects...) + `","` + one("acts", "Action", "NotAction") + `":"` +
			one("action", "*", "sqs:*", "sqs:SendMessage", "s3:GetObject", "sns:*") + `","` + one("on", "Resource", "NotResource") +
			`":"` + one("resource", "*", queue, "arn:aws:sqs:*:*:j*", "arn:aws:s3:::b/*") + `"`
		if rapid.Bool().Draw(t, "conditional") {
			s += `,"Condition":{"` + one("operator", "StringEquals", "StringNotLike", "ForAnyValue:StringLike", "Null") +
				`":{"aws:username":"` + one("value", "ann", "bob", "true", "*") + `"}}`
		}
		all = append(all, s+"}")
	}
	return statement(strings.Join(all, ","))
}

func request(t *rapid.T) *policy.Request {
	return &policy.Request{Principal: ann,
		Action:   rapid.SampledFrom([]string{"sqs:SendMessage", "s3:GetObject", "sns:Publish"}).Draw(t, "asked action"),
		Resource: rapid.SampledFrom([]string{queue, "arn:aws:s3:::b/k", "*"}).Draw(t, "asked resource"),
		Context:  policy.Context{"aws:username": {rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user")}}}
}

// Adding a policy that denies never allows what was not allowed before.
func TestDeniesOnlyTakeAway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, err := policy.Parse(drawn(t, "Allow", "Deny"))
		if err != nil {
			t.Fatal(err)
		}
		deny, err := policy.Parse(drawn(t, "Deny"))
		if err != nil {
			t.Fatal(err)
		}
		r := request(t)
		before := (&policy.Policies{Identity: []*policy.Policy{base}}).Evaluate(r)
		after := (&policy.Policies{Identity: []*policy.Policy{deny, base}}).Evaluate(r)
		if after.Allowed && !before.Allowed {
			t.Fatalf("a deny allowed %+v", r)
		}
		alone := (&policy.Policies{Identity: []*policy.Policy{deny}}).Evaluate(r)
		if alone.Explicit && after.Allowed {
			t.Fatalf("an allow won over a deny: %+v", r)
		}
	})
}

// A boundary or a session policy never allows what was not allowed before.
func TestBoundsOnlyTakeAway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, _ := policy.Parse(drawn(t, "Allow", "Deny"))
		bound, _ := policy.Parse(drawn(t, "Allow", "Deny"))
		r := request(t)
		free := (&policy.Policies{Identity: []*policy.Policy{base}}).Evaluate(r).Allowed
		bounded := (&policy.Policies{Identity: []*policy.Policy{base}, Boundary: bound}).Evaluate(r).Allowed
		both := (&policy.Policies{Identity: []*policy.Policy{bound}}).Evaluate(r).Allowed
		if bounded != (free && both) {
			t.Fatalf("%+v: free %t, bound %t, bounded %t", r, free, both, bounded)
		}
	})
}

// FuzzParse checks that any document can be parsed or rejected, and then evaluated, without a panic.
func FuzzParse(f *testing.F) {
	f.Add(statement(`{"Effect":"Allow","Action":["sqs:*"],"Resource":"${aws:username, 'x'}*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}`))
	f.Add(`{"Statement":{"Effect":"Deny","NotAction":"a?b*","Principal":{"AWS":["*"]}}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		p, err := policy.Parse(text)
		if err != nil {
			return
		}
		(&policy.Policies{Identity: []*policy.Policy{p}, Resource: p, Boundary: p}).Evaluate(&policy.Request{
			Principal: ann, Action: "sqs:SendMessage", Resource: queue, Context: policy.Context{"aws:SourceIp": {"10.0.0.1"}}})
	})
}
