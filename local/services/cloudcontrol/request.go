package cloudcontrol

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/documents"
)

// The operations and their statuses.
const (
	opCreate, opUpdate, opDelete = "CREATE", "UPDATE", "DELETE"
	inProgress                   = "IN_PROGRESS"
	succeeded                    = "SUCCESS"
	hasFailed                    = "FAILED"
	cancelled                    = "CANCEL_COMPLETE"
)

// request is the stored form of a request to change something.
type request struct {
	Account, Region, Token, Client string
	Type, Operation, Status        string
	Identifier, Suffix             string         // Identifier is empty until the resource has one
	Properties, Previous           map[string]any `json:",omitempty"`
	Asked                          string         // the request's text, to compare requests with the same client token
	Message, Code                  string         `json:",omitempty"`
	At                             int64          // milliseconds since 1970
	// As says with whose permissions the request is executed.
	As resource.Identity
}

func (r *request) scope() aws.Scope { return aws.Scope{Account: r.Account, Region: r.Region} }

func (r *request) ended() bool {
	return r.Status == succeeded || r.Status == hasFailed || r.Status == cancelled
}

// key returns the key of the resource; if it has no identifier yet, the key is unique to the request.
func (r *request) key() string {
	if r.Identifier == "" {
		return "new/" + r.Token
	}
	return keyOf(r.scope(), r.Type, r.Identifier)
}

func keyOf(scope aws.Scope, typ, identifier string) string {
	return "wanted/" + scope.Account + "/" + scope.Region + "/" + typ + "/" + identifier
}

// progress is a request as returned in responses.
type progress struct {
	TypeName          string
	Identifier        string `json:",omitempty"`
	RequestToken      string
	HooksRequestToken string `json:",omitempty"`
	Operation         string
	OperationStatus   string
	EventTime         server.Time
	ResourceModel     string       `json:",omitempty"`
	StatusMessage     string       `json:",omitempty"`
	ErrorCode         string       `json:",omitempty"`
	RetryAfter        *server.Time `json:",omitempty"`
}

func (r *request) shown() progress {
	p := progress{TypeName: r.Type, Identifier: r.Identifier, RequestToken: r.Token, Operation: r.Operation,
		OperationStatus: r.Status, EventTime: server.Time(time.UnixMilli(r.At).UTC()), StatusMessage: r.Message,
		ErrorCode: r.Code}
	if len(r.Properties) > 0 && r.Operation != opDelete {
		p.ResourceModel = jsonOf(r.Properties)
	}
	return p
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // it was valid JSON before
		return "{}"
	}
	return string(text)
}

type eventAnswer struct {
	ProgressEvent progress
}

// begin stores a request and starts its execution. A client token that is already known returns the request that it
// started.
func (s *Service) begin(r *request, scope aws.Scope) (*eventAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token, ok := s.byClient[scope.Account+"/"+scope.Region][r.Client]; ok && r.Client != "" {
		if known := s.requests[token]; known.Asked == r.Asked {
			return &eventAnswer{known.shown()}, nil
		}
		return nil, refusal("ClientTokenConflictException",
			"A previous request with the client token %s had other parameters.", r.Client)
	}
	r.Account, r.Region, r.Token = scope.Account, scope.Region, aws.NewID()
	r.Status, r.At = inProgress, s.o.Clock.Now().UnixMilli()
	if token, ok := s.busy[r.key()]; ok {
		return nil, refusal(
			"ConcurrentOperationException",
			"Resource with identifier %s of type %s is being changed by the request with token %s.",
			r.Identifier,
			r.Type,
			token,
		)
	}
	if err := s.o.Store.Write(func(b *documents.Batch) error {
		s.prune(b, r.At)
		return s.putRequest(b, r)
	}); err != nil {
		return nil, err
	}
	s.enter(r)
	s.launch(r, false)
	return &eventAnswer{r.shown()}, nil
}

// retentionMillis is the time for which requests can be queried after they have ended, in milliseconds.
const retentionMillis = 7 * 24 * 60 * 60 * 1000

// prune deletes requests that ended long ago. The caller holds mu.
func (s *Service) prune(b *documents.Batch, now int64) {
	for token, r := range s.requests {
		if !r.ended() || now-r.At < retentionMillis {
			continue
		}
		delete(s.requests, token)
		delete(s.byClient[r.Account+"/"+r.Region], r.Client)
		b.Delete(s.table, "request/"+token)
	}
}

// ask returns the type of the resource, and the request to pass to the type's functions.
func (s *Service) ask(r *request, again bool) (*resource.Type, *resource.Request) {
	t := s.o.Types[r.Type]
	if t == nil { // from a later version
		t = &resource.Type{Name: r.Type}
	}
	q := &resource.Request{
		API:        s.o.API(r.scope(), r.As),
		Scope:      r.scope(),
		Stack:      "cloudcontrol",
		LogicalID:  r.Type[strings.LastIndexByte(r.Type, ':')+1:],
		Suffix:     r.Suffix,
		Type:       r.Type,
		Properties: r.Properties,
		Previous:   r.Previous,
		Again:      again,
		GiveUp:     s.ctx,
		Wait:       s.o.Clock.Sleep,
	}
	if r.Identifier != "" {
		q.ID, _, _ = t.Locate(r.Identifier)
	}
	return t, q
}

// carryOut executes a request and stores its result.
func (s *Service) carryOut(ctx context.Context, r *request, again bool) {
	t, q := s.ask(r, again)
	var state resource.State
	err := errors.New("the type " + r.Type + " is not known any more")
	switch {
	case t.Create == nil:
	case r.Operation == opCreate:
		state, err = t.Create(ctx, q)
		if err != nil && state.ID != "" && s.ctx.Err() == nil { // a partly created resource
			q.ID, q.Attributes = state.ID, state.Attributes
			_ = t.Delete(ctx, q)
		}
	case r.Operation == opUpdate:
		state, err = t.Update(ctx, q)
	default:
		err = t.Delete(ctx, q)
	}
	if s.ctx.Err() != nil {
		return // it continues when the store is opened again
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := r.key()
	end := *r
	end.Status, end.At = succeeded, s.o.Clock.Now().UnixMilli()
	if err != nil {
		end.Status, end.Message, end.Code = hasFailed, messageOf(err), codeOf(err)
	} else if r.Operation == opCreate {
		end.Identifier = t.Identify(state, r.Properties)
	}
	if kept := s.o.Store.Write(func(b *documents.Batch) error { return s.conclude(b, &end) }); kept != nil {
		s.o.Log.Error("a request of Cloud Control stands still", "token", r.Token, "error", kept)
		return
	}
	delete(s.busy, before)
	s.requests[r.Token] = &end
	if end.Status != succeeded {
		return
	}
	if r.Operation == opDelete {
		delete(s.wanted, end.key())
	} else {
		s.wanted[end.key()] = end.Properties
	}
}

// conclude stores the result of a request.
func (s *Service) conclude(b *documents.Batch, end *request) error {
	if end.Status == succeeded && end.Operation == opDelete {
		b.Delete(s.table, end.key())
	} else if end.Status == succeeded {
		b.Put(s.table, end.key(), []byte(jsonOf(end.Properties)))
	}
	return s.putRequest(b, end)
}

func messageOf(err error) string {
	const longest = 2048
	text := err.Error()
	var e smithy.APIError
	if errors.As(err, &e) {
		text = e.ErrorMessage()
	}
	if len(text) > longest {
		text = text[:longest]
	}
	return text
}

// codeOf returns Cloud Control's code for an error.
func codeOf(err error) string {
	var wrong *resource.PropertyError
	if errors.As(err, &wrong) {
		return "InvalidRequest"
	}
	var handler *resource.HandlerError
	if errors.As(err, &handler) {
		return handler.Code
	}
	var e smithy.APIError
	if !errors.As(err, &e) {
		var own *aws.Error
		if errors.As(err, &own) && !own.ByServer() {
			return "InvalidRequest"
		}
		return "InternalFailure"
	}
	code := e.ErrorCode()
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(code, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("AlreadyExists", "AlreadyOwned", "BucketAlready"):
		return "AlreadyExists"
	case has("NotFound", "NoSuch", "NonExistent", "DoesNotExist"):
		return "NotFound"
	case has("AccessDenied", "NotAuthorized", "AuthorizationError", "UnrecognizedClient", "ExpiredToken"):
		return "AccessDenied"
	case has("Throttl", "TooManyRequests"):
		return "Throttling"
	case has("LimitExceeded"):
		return "ServiceLimitExceeded"
	case has("Conflict", "InUse"):
		return "ResourceConflict"
	case e.ErrorFault() == smithy.FaultServer:
		return "ServiceInternalError"
	case has("Validation", "Invalid", "BadRequest"):
		return "InvalidRequest"
	}
	return "GeneralServiceException"
}

type tokenRequest struct {
	RequestToken string
}

type statusAnswer struct {
	ProgressEvent      progress
	HooksProgressEvent []map[string]any // hooks are not called
}

func (s *Service) find(scope aws.Scope, token string) (*request, error) {
	if r := s.requests[token]; r != nil && r.scope() == scope {
		return r, nil
	}
	return nil, refusal("RequestTokenNotFoundException", "Request with token %s was not found", token)
}

func (s *Service) getStatus(_ context.Context, scope aws.Scope, in *tokenRequest) (*statusAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.find(scope, in.RequestToken)
	if err != nil {
		return nil, err
	}
	return &statusAnswer{ProgressEvent: r.shown(), HooksProgressEvent: []map[string]any{}}, nil
}

// cancelRequest cancels a request that has not started. Here all requests start immediately, so it is always too
// late, as it mostly is on AWS.
func (s *Service) cancelRequest(_ context.Context, scope aws.Scope, in *tokenRequest) (*eventAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.find(scope, in.RequestToken)
	if err != nil {
		return nil, err
	}
	return nil, refusal("ConcurrentModificationException",
		"The request with token %s is in status %s and cannot be cancelled", r.Token, r.Status)
}

type requestsRequest struct {
	MaxResults int
	NextToken  string
	Filter     struct{ Operations, OperationStatuses []string } `json:"ResourceRequestStatusFilter"`
}

type requestsAnswer struct {
	ResourceRequestStatusSummaries []progress
	NextToken                      string `json:",omitempty"`
}
