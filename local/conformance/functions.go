package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/tasks/lambda/invocation"
)

// Functions serves the Lambda functions of one case by their rules. Delays pass on the clock.
type Functions struct {
	Clock *clock.Clock
	Rules map[string]Rule
	// Region and Account appear in the error for a missing function.
	Region, Account string

	mu    sync.Mutex
	calls map[string]int
}

// Invoke implements invocation.Invoker.
func (f *Functions) Invoke(ctx context.Context, c *invocation.Request) (*invocation.Answer, error) {
	name := c.FunctionName
	if _, after, ok := strings.Cut(name, ":function:"); ok {
		name, _, _ = strings.Cut(after, ":")
	}
	rule, ok := f.Rules[name]
	if !ok {
		return nil, f.notFound(c)
	}
	if len(rule.Sequence) > 0 {
		rule = rule.Sequence[f.turn(name, len(rule.Sequence))]
	}
	if rule.DelaySeconds > 0 {
		if err := f.Clock.Sleep(ctx, time.Duration(rule.DelaySeconds*float64(time.Second))); err != nil {
			return nil, err
		}
	}
	a, err := reply(rule, c.Payload)
	if err == nil && c.WantsLog() {
		a.LogTail = []byte("START RequestId: " + a.RequestID + " Version: $LATEST\nEND RequestId: " + a.RequestID + "\n")
	}
	return a, err
}

// notFound returns the error for a missing function, which names it as the service does: by its ARN with the
// requested qualifier, or $LATEST.
func (f *Functions) notFound(c *invocation.Request) error {
	n, err := invocation.ParseName(c.FunctionName, c.Qualifier)
	if err != nil {
		return err
	}
	return &aws.Error{
		Code: "ResourceNotFoundException", Status: 404, RequestID: aws.NewID(),
		Message: fmt.Sprintf("Function not found: arn:aws:lambda:%s:%s:function:%s:%s", cmp.Or(n.Region, f.Region),
			cmp.Or(n.Account, f.Account), n.Function, cmp.Or(n.Qualifier, "$LATEST")),
	}
}

// turn counts a function's calls and returns the index of the rule for this call.
func (f *Functions) turn(name string, rules int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	n := min(f.calls[name], rules-1)
	f.calls[name]++
	return n
}

func reply(r Rule, event []byte) (*invocation.Answer, error) {
	a := &invocation.Answer{StatusCode: 200, RequestID: aws.NewID(), Payload: event}
	switch {
	case r.Echo:
	case r.ReturnRepeat != nil:
		a.Payload = []byte(`"` + strings.Repeat(r.ReturnRepeat.Text, r.ReturnRepeat.Count) + `"`)
	case r.Error != nil:
		a.FunctionError = "Unhandled"
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err := e.Encode(struct {
			Message string   `json:"errorMessage"`
			Type    string   `json:"errorType"`
			Request string   `json:"requestId"`
			Trace   []string `json:"stackTrace"`
		}{r.Error.ErrorMessage, r.Error.ErrorType, a.RequestID, r.Error.StackTrace})
		if err != nil {
			return nil, err
		}
		a.Payload = bytes.TrimSpace(b.Bytes())
	default:
		a.Payload = r.Return
	}
	return a, nil
}
