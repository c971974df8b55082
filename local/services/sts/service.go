package sts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/iam/policy"
)

// Roles looks up roles that can be assumed, and the owners of access keys.
type Roles interface {
	// Trust returns the trust policy and the ID of the role with an ARN; found is false if there is no such role.
	Trust(role aws.ARN) (document, id string, found bool, err error)
	// Signer returns the ARN and the ID of the user that an access key belongs to; found is false if it belongs to no
	// user.
	Signer(account, key string) (arn, id string, found bool, err error)
}

// Options are the settings of STS. Documents, Roles and Clock are required.
type Options struct {
	// Documents is the store that holds sessions, in the table sts.
	Documents *documents.Store
	Roles     Roles
	// Clock determines when sessions end.
	Clock *clock.Clock
	// Scope is the account and region of requests that name none.
	Scope aws.Scope
	// Log receives refused requests; nil discards them.
	Log *slog.Logger
}

type service struct {
	Options
	table *documents.Table
}

// New returns a service that serves the STS API.
func New(o Options) *server.Service {
	s := &service{o, o.Documents.Table("sts")}
	return server.Must(server.Config{Model: "sts", Default: o.Scope, Log: o.Log, Operations: s.operations(),
		Partly:  partly,
		Invalid: "ValidationError"})
}

func (s *service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"GetCallerIdentity":         {Call: s.getCallerIdentity, Answer: identity{}},
		"AssumeRole":                server.Handle(s.assumeRole),
		"AssumeRoleWithWebIdentity": server.Handle(s.assumeRoleWithWebIdentity),
		"GetSessionToken":           {Call: s.getSessionToken, Reads: sessionTokenRequest{}, Answer: tokenAnswer{}},
		"GetAccessKeyInfo":          server.Handle(getAccessKeyInfo),
	}
}

type identity struct {
	UserID  string `json:"UserId"`
	Account string
	ARN     string `json:"Arn"`
}

// session is a stored session: the identity that its credentials represent, and the time at which they should
// expire.
type session struct {
	identity
	Until  time.Time
	Policy string `json:",omitempty"` // session policy, which limits what the role may do
	Secret string `json:",omitempty"` // secret access key; empty for sessions of earlier versions and standing ones
}

// Caller is the identity that signs with the access key of a session.
type Caller struct {
	Account, ARN, UserID string
	// Policy is the session policy; empty means none.
	Policy string
	// Until is when the session ends; zero means never.
	Until time.Time
	// Secret is the secret access key; empty if it is not known.
	Secret string
}

// CallerOf returns the identity of the session that an access key belongs to; found is false for keys that STS has
// not issued.
func CallerOf(d *documents.Store, key string) (c Caller, found bool, err error) {
	if _, ok := aws.AccountOfSession(key); !ok {
		return c, false, nil
	}
	text, found, err := d.Table("sts").Get(key)
	if err != nil || !found {
		return c, false, err
	}
	var kept session
	if err := json.Unmarshal(text, &kept); err != nil {
		return c, false, err
	}
	return Caller{kept.Account, kept.ARN, kept.UserID, kept.Policy, kept.Until, kept.Secret}, true, nil
}

// Standing holds the credentials of a service that acts in a role, such as Lambda for a function. They belong to a
// session without an end, which exists once per role and session name. The session always has the same credentials.
type Standing struct{ Key, Secret, Token string }

// Stand returns the credentials of a role's session without an end, which it creates if there is none with this name.
// ok is false if role is not a role's ARN.
func Stand(d *documents.Store, role, name string) (keys Standing, ok bool, err error) {
	arn, ok := aws.ParseARN(role)
	path, isRole := strings.CutPrefix(arn.Resource, "role/")
	if !ok || !isRole || arn.Service != "iam" {
		return Standing{}, false, nil
	}
	who := aws.ARN{Partition: arn.Partition, Service: "sts", Account: arn.Account,
		Resource: "assumed-role/" + path[strings.LastIndexByte(path, '/')+1:] + "/" + name}.String()
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(who)) // never fails
	keys = Standing{Secret: "local", Token: "local"}
	for number := sum.Sum32(); ; number++ { // try the next number if this one belongs to another session
		keys.Key = aws.SessionKey(arn.Account, number)
		c, found, err := CallerOf(d, keys.Key)
		if err != nil || found && c.ARN == who {
			return keys, err == nil, err
		}
		if !found {
			break
		}
	}
	//nolint:gosec // the store keeps the secret, to verify signatures
	text, err := json.Marshal(session{identity: identity{UserID: path[strings.LastIndexByte(path, '/')+1:] + ":" + name,
		Account: arn.Account, ARN: who}})
	if err != nil {
		return Standing{}, false, err
	}
	b, err := d.Begin()
	if err != nil {
		return Standing{}, false, err
	}
	b.Put(d.Table("sts"), keys.Key, text)
	if err := b.Apply()(); err != nil {
		return Standing{}, false, err
	}
	return keys, true, nil
}

// getCallerIdentity returns the identity of the session, or the root user of the account.
func (s *service) getCallerIdentity(_ context.Context, r *server.Request) (*server.Answer, error) {
	who, err := s.caller(r)
	if err != nil {
		return nil, err
	}
	return &server.Answer{Output: who}, nil
}

func (s *service) caller(r *server.Request) (identity, error) {
	if _, ok := aws.AccountOfSession(server.AccessKey(r.HTTP)); ok {
		text, found, err := s.table.Get(server.AccessKey(r.HTTP))
		if err != nil {
			return identity{}, err
		}
		var kept session
		if found && json.Unmarshal(text, &kept) == nil {
			return kept.identity, nil
		}
	}
	arn, id, found, err := s.Roles.Signer(r.Scope.Account, server.AccessKey(r.HTTP))
	if err != nil {
		return identity{}, err
	}
	if found {
		return identity{UserID: id, Account: r.Scope.Account, ARN: arn}, nil
	}
	return identity{UserID: r.Scope.Account, Account: r.Scope.Account, ARN: r.Scope.GlobalARN("iam", "root")}, nil
}

type credentials struct {
	ID      string      `json:"AccessKeyId"`
	Secret  string      `json:"SecretAccessKey"`
	Token   string      `json:"SessionToken"`
	Expires server.Time `json:"Expiration"`
}

// begin issues credentials and stores their owner.
func (s *service) begin(who identity, bounds string, seconds int64) (*credentials, error) {
	const letters = 32
	until := s.Clock.Now().Add(time.Duration(seconds) * time.Second)
	c := &credentials{aws.SessionKey(who.Account, rand.Uint32()),
		randomText(letters - 2), randomText(3 * letters), server.Time(until)}
	//nolint:gosec // the store keeps the secret, to verify signatures
	text, err := json.Marshal(session{who, until, bounds, c.Secret})
	if err != nil {
		return nil, err
	}
	b, err := s.Documents.Begin()
	if err != nil {
		return nil, err
	}
	b.Put(s.table, c.ID, text)
	return c, b.Apply()()
}

// randomText returns n random bytes as text.
func randomText(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return base64.StdEncoding.EncodeToString(b)
}

type assumeRequest struct {
	RoleARN string `json:"RoleArn"`
	Session string `json:"RoleSessionName"`
	Seconds int64  `json:"DurationSeconds"`
	Source  string `json:"SourceIdentity"`
	Policy  string
	// ExternalID is a condition key of trust policies, which are evaluated before the request arrives here.
	ExternalID string `json:"ExternalId"`

	Tags       []struct{ Key, Value string }
	Transitive []string `json:"TransitiveTagKeys"`
}

// checkTags returns an error for session tags that STS would reject. Otherwise the tags are ignored.
func (in *assumeRequest) checkTags() error {
	seen := map[string]bool{}
	for _, t := range in.Tags {
		key := strings.ToLower(t.Key)
		if seen[key] {
			return &aws.Error{Code: "InvalidParameterValue", Message: "Duplicate tag keys found. Please note that Tag keys are case insensitive."}
		}
		seen[key] = true
	}
	for _, k := range in.Transitive {
		if !seen[strings.ToLower(k)] {
			return &aws.Error{Code: "InvalidParameterValue",
				Message: "The specified transitive tag key must be included in the requested tags."}
		}
	}
	return nil
}

type assumed struct {
	ID  string `json:"AssumedRoleId"`
	ARN string `json:"Arn"`
}

type assumeAnswer struct {
	Credentials *credentials
	Assumed     assumed `json:"AssumedRoleUser"`
	PackedSize  int     `json:"PackedPolicySize,omitempty"`
	Source      string  `json:"SourceIdentity,omitempty"`
}

// assume starts a session of a role. by identifies the caller.
func (s *service) assume(in *assumeRequest, by, action string) (*assumeAnswer, error) {
	const usual = 3600
	role, ok := aws.ParseARN(in.RoleARN)
	if !ok || role.Service != "iam" || !strings.HasPrefix(role.Resource, "role/") {
		return nil, &aws.Error{Code: "ValidationError", Message: in.RoleARN + " is invalid"}
	}
	if err := in.checkTags(); err != nil {
		return nil, err
	}
	if in.Policy != "" {
		if _, err := policy.Parse(in.Policy); err != nil {
			return nil, &aws.Error{Code: "MalformedPolicyDocument", Message: err.Error()}
		}
	}
	_, id, found, err := s.Roles.Trust(role)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, &aws.Error{Code: "AccessDenied", Status: 403,
			Message: "User: " + by + " is not authorized to perform: sts:" + action + " on resource: " + in.RoleARN}
	}
	name := role.Resource[strings.LastIndexByte(role.Resource, '/')+1:]
	who := identity{UserID: id + ":" + in.Session, Account: role.Account, ARN: aws.ARN{Partition: role.Partition,
		Service: "sts", Account: role.Account, Resource: "assumed-role/" + name + "/" + in.Session}.String()}
	if in.Seconds == 0 {
		in.Seconds = usual
	}
	c, err := s.begin(who, in.Policy, in.Seconds)
	if err != nil {
		return nil, err
	}
	return &assumeAnswer{Credentials: c, Assumed: assumed{who.UserID, who.ARN}, Source: in.Source}, nil
}

func (s *service) assumeRole(_ context.Context, scope aws.Scope, in *assumeRequest) (*assumeAnswer, error) {
	return s.assume(in, scope.GlobalARN("iam", "root"), "AssumeRole")
}

type webIdentityAnswer struct {
	assumeAnswer
	Subject  string `json:"SubjectFromWebIdentityToken,omitempty"`
	Provider string `json:",omitempty"`
	Audience string `json:",omitempty"`
}

type webIdentityRequest struct {
	assumeRequest
	Token string `json:"WebIdentityToken"`
}

// assumeRoleWithWebIdentity takes the subject from the token without verifying it.
func (s *service) assumeRoleWithWebIdentity(_ context.Context, _ aws.Scope, in *webIdentityRequest) (*webIdentityAnswer,
	error) {
	var claims struct{ Sub, Iss, Aud string }
	parts := strings.Split(in.Token, ".")
	body := ""
	if len(parts) == 3 {
		body = parts[1]
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return nil, &aws.Error{Code: "InvalidIdentityToken", Message: "The ID Token provided is not a valid JWT."}
	}
	answer, err := s.assume(&in.assumeRequest, claims.Sub, "AssumeRoleWithWebIdentity")
	if err != nil {
		return nil, err
	}
	return &webIdentityAnswer{*answer, claims.Sub, claims.Iss, claims.Aud}, nil
}

type sessionTokenRequest struct {
	Seconds int64 `json:"DurationSeconds"`
}

type tokenAnswer struct{ Credentials *credentials }

// getSessionToken starts a session of the caller.
func (s *service) getSessionToken(_ context.Context, r *server.Request) (*server.Answer, error) {
	var in sessionTokenRequest
	if err := server.Fill(&in, r.Input); err != nil {
		return nil, err
	}
	const usual = 12 * 3600
	if in.Seconds == 0 {
		in.Seconds = usual
	}
	who, err := s.caller(r)
	if err != nil {
		return nil, err
	}
	c, err := s.begin(who, "", in.Seconds)
	return &server.Answer{Output: tokenAnswer{c}}, err
}

type keyAnswer struct{ Account string }

// getAccessKeyInfo returns the account of an access key.
func getAccessKeyInfo(_ context.Context, scope aws.Scope, in *struct {
	ID string `json:"AccessKeyId"`
}) (*keyAnswer, error) {
	if account, ok := aws.AccountOfKey(in.ID); ok {
		return &keyAnswer{account}, nil
	}
	return &keyAnswer{scope.Account}, nil
}
