package cloudformation

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/services/cloudformation/resource"
	"stepback/services/cloudformation/template"
)

// ResponsePath is where custom resources and wait conditions answer, at the platform's address: a token follows.
const ResponsePath = "/_stepback/cloudformation/response/"

const (
	customType     = "AWS::CloudFormation::CustomResource"
	customPrefix   = "Custom::"
	handleType     = "AWS::CloudFormation::WaitConditionHandle"
	waitType       = "AWS::CloudFormation::WaitCondition"
	defaultService = 3600 // seconds that a custom resource may take
)

func isCustom(name string) bool { return name == customType || strings.HasPrefix(name, customPrefix) }

func newToken() string { return aws.NewID() }

// ofRecord is what an operation of one of our own types is about.
type ofRecord struct {
	d *deployment
	r *record
}

type recordKey struct{}

func withRecord(ctx context.Context, d *deployment, r *record) context.Context {
	return context.WithValue(ctx, recordKey{}, ofRecord{d, r})
}

func recordOf(ctx context.Context) ofRecord {
	o, _ := ctx.Value(recordKey{}).(ofRecord)
	return o
}

// own are the types that the engine carries out itself; nil for others.
func (s *Service) own(name string) *resource.Type {
	switch {
	case isCustom(name):
		return &resource.Type{Name: name, Create: s.customCreate, Update: s.customUpdate, Delete: s.customDelete}
	case name == stackType:
		return &resource.Type{
			Name: name, Properties: nestedProperties, Create: s.nestedCreate, Update: s.nestedUpdate,
			Delete: s.nestedDelete,
		}
	case name == handleType:
		return &resource.Type{
			Name: name, Properties: map[string]resource.Property{},
			Create: func(ctx context.Context, _ *resource.Request) (resource.State, error) {
				return resource.State{ID: s.responseURL(recordOf(ctx).r.Token)}, nil
			},
			Delete: func(_ context.Context, r *resource.Request) error {
				return s.change(func(k *keeper) error {
					k.b.DeleteAll(s.table, responseKey(tokenOf(r.ID), ""))
					return nil
				})
			},
		}
	case name == waitType:
		return &resource.Type{
			Name: name,
			Properties: map[string]resource.Property{"Handle": {Required: true, Replaces: true},
				"Timeout": {Required: true, Replaces: true}, "Count": {Replaces: true}},
			Create: s.waitCreate,
			Delete: func(context.Context, *resource.Request) error { return nil },
		}
	}
	return nil
}

func (s *Service) responseURL(token string) string { return s.opts.Endpoint + ResponsePath + token }

func tokenOf(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// response is what a custom resource answers.
type response struct {
	Status             string
	Reason             string         `json:",omitempty"`
	PhysicalResourceID string         `json:"PhysicalResourceId"`
	NoEcho             bool           `json:",omitempty"`
	Data               map[string]any `json:",omitempty"`
	// Of wait conditions, whose data may be a text.
	UniqueID string `json:"UniqueId,omitempty"`
}

// stringified is a value with all scalars as texts, as custom resources get them.
func stringified(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = stringified(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = stringified(e)
		}
		return l
	}
	if text, ok := template.TextOf(v); ok {
		return text
	}
	return v
}

func (s *Service) customCreate(ctx context.Context, r *resource.Request) (resource.State, error) {
	return s.custom(ctx, r, "Create")
}

func (s *Service) customUpdate(ctx context.Context, r *resource.Request) (resource.State, error) {
	return s.custom(ctx, r, "Update")
}

func (s *Service) customDelete(ctx context.Context, r *resource.Request) error {
	if r.ID == "" {
		return nil
	}
	_, err := s.custom(ctx, r, "Delete")
	return err
}

// custom asks the provider of a custom resource and waits for what it answers.
func (s *Service) custom(ctx context.Context, r *resource.Request, kind string) (resource.State, error) {
	of := recordOf(ctx)
	provider, _ := r.Properties["ServiceToken"].(string)
	if provider == "" {
		return resource.State{}, &resource.PropertyError{Problems: []string{"#: required key [ServiceToken] not found"}}
	}
	seconds := defaultService
	if text, ok := template.TextOf(r.Properties["ServiceTimeout"]); ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > defaultService {
			return resource.State{}, &resource.PropertyError{Problems: []string{
				"#/ServiceTimeout: must be a number of seconds from 1 to 3600"}}
		}
		seconds = n
	}
	token := of.r.Token
	asked := map[string]any{"RequestType": kind, "ServiceToken": provider, "ResponseURL": s.responseURL(token),
		"StackId": r.StackID, "RequestId": token, "ResourceType": r.Type, "LogicalResourceId": r.LogicalID,
		"ResourceProperties": stringified(r.Properties)}
	if kind != "Create" {
		asked["PhysicalResourceId"] = r.ID
	}
	if kind == "Update" {
		asked["OldResourceProperties"] = stringified(r.Previous)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return resource.State{}, err
	}
	answered := s.expect(token)
	defer s.forgetExpected(token)
	invoked := make(chan error, 1)
	invoking, stop := context.WithCancel(ctx)
	s.under.Go(func() { invoked <- s.provide(invoking, r, provider, body) })
	defer func() {
		if invoked != nil { // nobody needs the rest of the invocation; its end is waited for by Close
			stop()
		}
	}()
	end := s.now().Add(time.Duration(seconds) * time.Second)
	timeout := make(chan struct{})
	timer := s.opts.Clock.Schedule(end, clock.AlarmFunc(func() { close(timeout) }))
	defer timer.Stop()
	for {
		if a, ok, err := s.answer(token); err != nil || ok {
			if err != nil {
				return resource.State{}, err
			}
			return s.answeredState(of, r, a, kind)
		}
		resume := s.opts.Clock.Yield(ctx)
		select {
		case <-answered:
			resume()
		case err := <-invoked:
			resume()
			invoked = nil
			if err != nil {
				return resource.State{}, err
			}
		case <-timeout:
			resume()
			return resource.State{}, invalid("CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [%s]. If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version.",
				token)
		case <-r.GiveUp.Done():
			resume()
			return resource.State{}, context.Cause(r.GiveUp) //nolint:contextcheck // its cause is the error
		}
	}
}

// provide gives a request to its provider: a function, or a topic.
func (s *Service) provide(ctx context.Context, r *resource.Request, provider string, body []byte) error {
	arn, ok := aws.ParseARN(provider)
	switch {
	case ok && arn.Service == "sns":
		return r.Call(ctx, "sns", "Publish", map[string]any{"TopicArn": provider, "Message": string(body),
			"Subject": "AWS CloudFormation custom resource request"}, nil)
	case ok && arn.Service == "lambda":
	default:
		return invalid("Invalid service token: %s is the ARN of neither a function nor a topic", provider)
	}
	// The function is waited for, where AWS invokes it asynchronously: what it throws is then the reason, instead of an
	// hour of silence.
	var out struct{ FunctionError, Payload string }
	if err := r.Call(ctx, "lambda", "Invoke", map[string]any{"FunctionName": provider,
		"Payload": base64.StdEncoding.EncodeToString(body)}, &out); err != nil {
		return err
	}
	if out.FunctionError == "" {
		return nil
	}
	text, err := base64.StdEncoding.DecodeString(out.Payload)
	if err != nil {
		text = []byte(out.Payload)
	}
	return invalid("The function of the custom resource failed before it answered: %s", text)
}

// mostResponse is how long the answer of a custom resource may be.
const mostResponse = 4096

func (s *Service) answeredState(of ofRecord, r *resource.Request, a response, kind string) (resource.State, error) {
	switch {
	case a.Status == "FAILED":
		return resource.State{ID: keptID(a, r, kind)}, invalid("Received response status [FAILED] from custom resource. Message returned: %s (RequestId: %s)",
			a.Reason, of.r.Token)
	case a.Status != "SUCCESS":
		return resource.State{}, invalid("Invalid response status [%s] from custom resource", a.Status)
	case a.PhysicalResourceID == "" && kind != "Delete":
		return resource.State{}, invalid("Invalid PhysicalResourceId")
	}
	s.mu.Lock()
	of.r.NoEcho = a.NoEcho
	s.mu.Unlock()
	data := a.Data
	if data == nil {
		data = map[string]any{}
	}
	return resource.State{ID: keptID(a, r, kind), Attributes: data}, nil
}

// keptID is the physical ID after an answer. Of a failed creation there is something to delete only if it has a name.
func keptID(a response, r *resource.Request, kind string) string {
	if a.PhysicalResourceID == "" || kind == "Delete" {
		return r.ID
	}
	return a.PhysicalResourceID
}

// expect makes a channel that tells of answers for a token.
func (s *Service) expect(token string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{}, 1)
	s.waiting[token] = c
	return c
}

func (s *Service) forgetExpected(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, token)
}

// answers are what has been answered for a token.
func (s *Service) answers(token string) (all []response, err error) {
	err = s.table.Scan(responseKey(token, ""), func(_ string, value []byte) error {
		var a response
		if err := json.Unmarshal(value, &a); err != nil {
			return err
		}
		all = append(all, a)
		return nil
	})
	return all, err
}

func (s *Service) answer(token string) (response, bool, error) {
	all, err := s.answers(token)
	if err != nil || len(all) == 0 {
		return response{}, false, err
	}
	return all[0], true, nil
}

// Responses takes the answers of custom resources and the signals of wait conditions, at ResponsePath.
func (s *Service) Responses() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.URL.Path, ResponsePath)
		if r.Method != http.MethodPut && r.Method != http.MethodPost {
			http.Error(w, "answers are PUT here", http.StatusMethodNotAllowed)
			return
		}
		if err := s.take(token, r.Body); err != nil {
			status := http.StatusBadRequest
			var e *aws.Error
			if errors.As(err, &e) {
				status = e.HTTPStatus()
			}
			http.Error(w, err.Error(), status)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
}

func (s *Service) take(token string, body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, 16*mostResponse))
	if err != nil {
		return err
	}
	if !s.expects(token) {
		return &aws.Error{Code: "NoSuchKey", Status: http.StatusNotFound, Message: "nobody waits for an answer with this token"}
	}
	var a response
	var raw struct {
		Data     any
		UniqueID string `json:"UniqueId"`
	}
	if err := json.Unmarshal(text, &a); err != nil {
		if e := json.Unmarshal(text, &raw); e != nil {
			a = response{Status: "FAILED", Reason: "the answer is not JSON: " + e.Error()}
		} else { // the data of a wait condition are a text
			a = response{UniqueID: raw.UniqueID, Data: map[string]any{"": raw.Data}}
			_ = json.Unmarshal(text, &struct{ Status, Reason *string }{&a.Status, &a.Reason})
		}
	}
	if len(text) > mostResponse && a.Status == "SUCCESS" {
		a = response{Status: "FAILED", Reason: "Response object is too long."}
	}
	one := "answer"
	if a.UniqueID != "" {
		one = a.UniqueID
	}
	if err := s.change(func(k *keeper) error {
		if _, there, err := s.table.Get(responseKey(token, one)); err != nil || there {
			return err // the first answer counts
		}
		k.put(responseKey(token, one), a)
		return nil
	}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.waiting[token]; c != nil {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	return nil
}

// expects reports whether a token is that of a resource which may answer.
func (s *Service) expects(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.stacks {
		for _, r := range st.resources {
			if r.Token == token && token != "" {
				return true
			}
		}
	}
	return false
}

// waitCreate waits for the signals of a wait condition.
func (s *Service) waitCreate(ctx context.Context, r *resource.Request) (resource.State, error) {
	handle, _ := r.Properties["Handle"].(string)
	seconds, err := strconv.Atoi(textOr(r.Properties["Timeout"], ""))
	if err != nil || seconds < 0 || seconds > 43_200 {
		return resource.State{}, &resource.PropertyError{Problems: []string{"#/Timeout: must be a number of seconds up to 43200"}}
	}
	count, err := strconv.Atoi(textOr(r.Properties["Count"], "1"))
	if err != nil || count < 0 {
		return resource.State{}, &resource.PropertyError{Problems: []string{"#/Count: must be a number"}}
	}
	token := tokenOf(handle)
	signalled := s.expect(token)
	defer s.forgetExpected(token)
	timeout := make(chan struct{})
	timer := s.opts.Clock.Schedule(s.now().Add(time.Duration(seconds)*time.Second),
		clock.AlarmFunc(func() { close(timeout) }))
	defer timer.Stop()
	for {
		all, err := s.answers(token)
		if err != nil {
			return resource.State{}, err
		}
		data := map[string]any{}
		for _, a := range all {
			if a.Status == "FAILURE" {
				return resource.State{}, invalid("WaitCondition received failed message: '%s' for uniqueId: %s", a.Reason, a.UniqueID)
			}
			data[a.UniqueID] = a.Data[""]
		}
		if len(all) >= count {
			return resource.State{ID: r.StackID + "/" + r.Name(128) + "/" + handle, Attributes: map[string]any{
				"Data": template.JSON(data)}}, nil
		}
		resume := s.opts.Clock.Yield(ctx)
		select {
		case <-signalled:
			resume()
		case <-timeout:
			resume()
			return resource.State{}, invalid("WaitCondition timed out. Received %d conditions when expecting %d", len(all), count)
		case <-r.GiveUp.Done():
			resume()
			return resource.State{}, context.Cause(r.GiveUp) //nolint:contextcheck // its cause is the error
		}
	}
}

func textOr(v any, def string) string {
	if text, ok := template.TextOf(v); ok {
		return text
	}
	return def
}

var nestedProperties = map[string]resource.Property{"TemplateURL": {Required: true}, "Parameters": {}, "Tags": {},
	"TimeoutInMinutes": {}, "NotificationARNs": {}}

// nested are the parameters of a nested stack.
func nested(r *resource.Request) (given []parameter, topics []string, err error) {
	m, _ := r.Properties["Parameters"].(map[string]any)
	for k, v := range m {
		if l, ok := v.([]any); ok { // a list is given as its elements
			parts := make([]string, len(l))
			for i, e := range l {
				parts[i] = textOr(e, "")
			}
			v = strings.Join(parts, ",")
		}
		text, ok := template.TextOf(v)
		if !ok {
			return nil, nil, invalid("Value of property Parameters must be an object with String (or simple type) properties")
		}
		given = append(given, parameter{Key: k, Value: text})
	}
	slices.SortFunc(given, func(a, b parameter) int { return strings.Compare(a.Key, b.Key) })
	if l, ok := r.Properties["NotificationARNs"].([]any); ok {
		for _, e := range l {
			topics = append(topics, textOr(e, ""))
		}
	}
	return given, topics, nil
}

func (s *Service) nestedTarget(ctx context.Context, of ofRecord, r *resource.Request, previous *deployed) (deployed, error) {
	given, topics, err := nested(r)
	if err != nil {
		return deployed{}, err
	}
	text, err := s.fetch(ctx, r.Scope, textOr(r.Properties["TemplateURL"], ""))
	if err != nil {
		return deployed{}, err
	}
	to := deployed{Template: text, Tags: mergedTags(r), NotificationARNs: topics,
		Capabilities: of.d.op.Target.Capabilities,
		RoleARN:      of.d.op.Target.RoleARN}
	_, err = s.prepare(ctx, r.Scope, &to, given, previous)
	return to, err
}

func mergedTags(r *resource.Request) map[string]string {
	tags := map[string]string{}
	for k, v := range r.Tags {
		tags[k] = v
	}
	l, _ := r.Properties["Tags"].([]any)
	for _, e := range l {
		m, _ := e.(map[string]any)
		tags[textOr(m["Key"], "")] = textOr(m["Value"], "")
	}
	return tags
}

func (s *Service) nestedCreate(ctx context.Context, r *resource.Request) (resource.State, error) {
	of := recordOf(ctx)
	name := r.Name(128)
	s.mu.Lock()
	child, err := s.find(r.Scope, name)
	s.mu.Unlock()
	if err != nil { // it is not there yet
		to, err := s.nestedTarget(ctx, of, r, nil)
		if err != nil {
			return resource.State{}, err
		}
		child = s.newStack(r.Scope, name)
		child.Parent, child.Root = of.d.st.ID, of.d.st.ID
		if of.d.st.Root != "" {
			child.Root = of.d.st.Root
		}
		minutes, _ := strconv.Atoi(textOr(r.Properties["TimeoutInMinutes"], "0"))
		if err := s.start(child, &operation{Kind: opCreate, Phase: phaseApply, Target: to,
			OnFailure: onFailure(of.d.op),
			Token:     of.d.op.Token, DisableRollback: of.d.op.DisableRollback}, "CREATE_IN_PROGRESS", minutes); err != nil {
			return resource.State{}, err
		}
	}
	return s.nestedWait(ctx, child, "CREATE_COMPLETE")
}

func onFailure(op *operation) string {
	if op.DisableRollback || op.OnFailure == "DO_NOTHING" {
		return "DO_NOTHING"
	}
	return "ROLLBACK"
}

// nestedWait waits for the end of the operation of a nested stack.
func (s *Service) nestedWait(ctx context.Context, child *stack, want ...string) (resource.State, error) {
	for {
		s.mu.Lock()
		ended, under := child.ended, child.Operation != nil
		if under {
			s.launch(child)
		}
		status, reason := child.Status, child.Reason
		state := resource.State{ID: child.ID, Attributes: map[string]any{}}
		for _, o := range child.Outputs {
			state.Attributes["Outputs."+o.Key] = o.Value
		}
		s.mu.Unlock()
		if !under {
			if slices.Contains(want, status) {
				return state, nil
			}
			return state, invalid("Embedded stack %s was not successfully %s: %s", child.ID, pastOf(want[0]), reason)
		}
		resume := s.opts.Clock.Yield(ctx)
		select {
		case <-ended:
			resume()
		case <-s.ctx.Done():
			resume()
			return resource.State{}, s.ctx.Err()
		}
	}
}

func pastOf(status string) string {
	switch {
	case strings.HasPrefix(status, "CREATE"):
		return "created"
	case strings.HasPrefix(status, "DELETE"):
		return "deleted"
	}
	return "updated"
}

func (s *Service) child(id string) *stack {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stacks[id]
}

func (s *Service) nestedUpdate(ctx context.Context, r *resource.Request) (resource.State, error) {
	of := recordOf(ctx)
	child := s.child(r.ID)
	if child == nil || child.gone() {
		return resource.State{}, fmt.Errorf("the nested stack %s is not there", r.ID)
	}
	s.mu.Lock()
	under := child.busy()
	previous := child.deployed
	s.mu.Unlock()
	if !under {
		to, err := s.nestedTarget(ctx, of, r, &previous)
		if err != nil {
			return resource.State{}, err
		}
		changed, err := s.differs(ctx, child, &to)
		if err != nil {
			return resource.State{}, err
		}
		if changed {
			if err := s.start(child, &operation{Kind: opUpdate, Phase: phaseApply, Target: to, Token: of.d.op.Token},
				"UPDATE_IN_PROGRESS", 0); err != nil {
				return resource.State{}, err
			}
		}
	}
	return s.nestedWait(ctx, child, "UPDATE_COMPLETE", "CREATE_COMPLETE")
}

func (s *Service) nestedDelete(ctx context.Context, r *resource.Request) error {
	child := s.child(r.ID)
	if child == nil || child.gone() {
		return nil
	}
	s.mu.Lock()
	under := child.busy() && child.Operation.Kind == opDelete
	s.mu.Unlock()
	if !under {
		if err := s.start(child, &operation{Kind: opDelete, Phase: phaseDelete, Force: recordOf(ctx).d.op.Force},
			"DELETE_IN_PROGRESS", 0); err != nil {
			return err
		}
	}
	_, err := s.nestedWait(ctx, child, "DELETE_COMPLETE")
	return err
}
