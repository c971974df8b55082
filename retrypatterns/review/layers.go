package review

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stepback/asl"
	"stepback/jsonvalue"
	"stepback/retry"
	"stepback/retrypatterns"
)

// LayersOf returns the layers that attempt the work of a state of a machine, from the innermost to the outermost: the
// AWS SDK in a Lambda function, Lambda's own retries of an asynchronous invocation, the state's Retry, and the Retry of
// each Map and Parallel state around it. Layers with a single attempt are left out. A redrive is no layer: after
// it, all layers begin anew.
func LayersOf(m *asl.Machine, state string) []retrypatterns.Layer {
	path := around(&m.Graph, state)
	if len(path) == 0 {
		return nil
	}
	s, unknown := path[len(path)-1], m.UnknownErrorNames()
	var layers []retrypatterns.Layer
	if s.Type == asl.Task && strings.Contains(s.Resource, ":lambda:") {
		layers = append(layers, sdkLayer())
		if asynchronous(s) {
			layers = append(layers, retrypatterns.Layer{Name: "Lambda, invoked with InvocationType Event", Attempts: 3,
				Note: "the state sees none of their failures"})
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		most := 0
		for _, x := range path[i].Retry {
			if slices.ContainsFunc(x.ErrorEquals, func(name string) bool { return !unknown[name] }) {
				most = max(most, int(min(x.MaxAttempts, math.MaxInt32)))
			}
		}
		if most == 0 {
			continue
		}
		name := "the Retry of " + path[i].Name
		if path[i].Type != asl.Task {
			name = fmt.Sprintf("the Retry of the %s %s", path[i].Type, path[i].Name)
		}
		layers = append(layers, retrypatterns.Layer{Name: name, Attempts: 1 + most})
	}
	return layers
}

// sdkLayer returns the layer of the AWS SDK in a function, with the numbers of November 2026.
func sdkLayer() retrypatterns.Layer {
	sdk, dynamoDB := retry.SDK2026(), retry.SDK2026DynamoDB()
	longest := func(s retry.SDK, c retry.Cause) time.Duration {
		var sum time.Duration
		for _, w := range s.Waits(c) {
			sum += w.Max
		}
		return sum
	}
	return retrypatterns.Layer{Name: "an AWS SDK in the function, for each of its calls", Attempts: sdk.MaxAttempts, Note: fmt.Sprintf(
		"waits of at most %s in all, %s if the service throttles; %d attempts for DynamoDB; until November 2026 waits of up to %s",
		longest(sdk, retry.CauseOther), longest(sdk, retry.CauseThrottle), dynamoDB.MaxAttempts,
		longest(retry.SDK2025(), retry.CauseOther))}
}

// asynchronous reports whether a task only hands its request over to Lambda.
func asynchronous(s *asl.State) bool {
	for _, in := range []*jsonvalue.Value{s.Parameters, s.Arguments} {
		if in == nil {
			continue
		}
		if kind, ok := in.Get("InvocationType"); ok && kind.Text() == "Event" {
			return true
		}
	}
	return false
}

// around returns the states around a state, from the outermost, and the state itself; nil if there is no such state.
func around(g *asl.Graph, state string) []*asl.State {
	for _, s := range g.States {
		if s.Name == state {
			return []*asl.State{s}
		}
		inner := s.Branches
		if s.Map != nil && s.Map.Processor != nil {
			inner = append(inner[:len(inner):len(inner)], s.Map.Processor)
		}
		for _, b := range inner {
			if found := around(b, state); found != nil {
				return append([]*asl.State{s}, found...)
			}
		}
	}
	return nil
}
