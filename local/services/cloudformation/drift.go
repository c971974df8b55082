package cloudformation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
)

// drift is the difference between a resource and its stack's expectation.
type drift struct {
	Status           string       // IN_SYNC, MODIFIED, DELETED, NOT_CHECKED, UNKNOWN
	Expected, Actual string       `json:",omitempty"` // as JSON
	Differences      []difference `json:",omitempty"`
	Reason           string       `json:",omitempty"`
	At               int64
}

type difference struct {
	Path     string `json:"PropertyPath"`
	Expected string `json:"ExpectedValue"`
	Actual   string `json:"ActualValue"`
	Kind     string `json:"DifferenceType"`
}

func (d *drift) information() map[string]any {
	if d == nil {
		return map[string]any{"StackResourceDriftStatus": "NOT_CHECKED"}
	}
	return map[string]any{"StackResourceDriftStatus": d.Status, "LastCheckTimestamp": timeOf(d.At)}
}

// driftDetection is one drift detection; it has ended when DetectStackDrift responds.
type driftDetection struct {
	id      string
	stackID string
	status  string
	count   int
	at      int64
}

type driftRequest struct {
	Stack  string   `json:"StackName"`
	ID     string   `json:"LogicalResourceId"`
	IDs    []string `json:"LogicalResourceIds"`
	Status []string `json:"StackResourceDriftStatusFilters"`
	Token  string   `json:"NextToken"`
	Max    int      `json:"MaxResults"`
}

// mostDetections is the maximum number of detections that are remembered.
const mostDetections = 1000

func (s *Service) detectStackDrift(ctx context.Context, scope aws.Scope, in *driftRequest) (*struct {
	ID string `json:"StackDriftDetectionId"`
}, error) {
	s.mu.Lock()
	st, err := s.find(scope, in.Stack)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	if st.busy() {
		s.mu.Unlock()
		return nil, invalid("Drift detection cannot be performed on stack [%s] while in status %s", st.Name, st.Status)
	}
	now := st.copied()
	var ids []string
	for _, id := range st.ids() {
		if st.resources[id].exists() && (len(in.IDs) == 0 || slices.Contains(in.IDs, id)) {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	d := &driftDetection{id: aws.NewID(), stackID: st.ID, status: "IN_SYNC", at: s.now().UnixMilli()}
	found := map[string]*drift{}
	for _, id := range ids {
		found[id] = s.drifted(ctx, now, id)
		if found[id].Status == "MODIFIED" || found[id].Status == "DELETED" {
			d.status = "DRIFTED"
			d.count++
		}
	}
	return &struct {
			ID string `json:"StackDriftDetectionId"`
		}{d.id}, s.change(func(k *keeper) error {
			for id, one := range found {
				if r := st.resources[id]; r != nil {
					r.Drift = one
					k.resource(st, r)
				}
			}
			st.Drift, st.DriftAt = d.status, d.at
			k.stack(st)
			if len(s.drifts) >= mostDetections {
				clear(s.drifts)
			}
			s.drifts[d.id] = d
			return nil
		})
}

// drifted compares a resource with its stack's expectation. Only properties in the template are compared.
func (s *Service) drifted(ctx context.Context, st *stack, id string) *drift {
	r := *st.resources[id]
	found := &drift{Status: "NOT_CHECKED", At: s.now().UnixMilli()}
	t := s.typeOf(r.Type)
	if t == nil || t.Read == nil {
		found.Reason = "Resources of type " + r.Type + " are not checked"
		return found
	}
	q := &resource.Request{API: s.opts.API(st.scope(), s.identity(ctx, st.scope(), st.RoleARN)), Scope: st.scope(),
		Stack: st.Name, StackID: st.ID,
		LogicalID: id,
		Suffix:    r.Suffix, Type: r.Type, ID: r.Physical, Properties: r.Properties, Attributes: r.Attributes,
		Tags: r.Tags}
	actual, err := t.Read(ctx, q)
	switch {
	case errors.Is(err, resource.ErrGone):
		found.Status, found.Expected = "DELETED", template.JSON(shownValue(r.Properties))
		return found
	case err != nil:
		found.Status, found.Reason = "UNKNOWN", why(err)
		return found
	}
	now, want := map[string]any{}, map[string]any{}
	for name, v := range r.Properties {
		got, readable := actual[name]
		if name == "Tags" || t.Properties[name].WriteOnly || !readable {
			continue
		}
		want[name], now[name] = normalised(v), normalised(got)
	}
	found.Status, found.Differences = "IN_SYNC", differences("", want, now)
	if len(found.Differences) > 0 {
		found.Status = "MODIFIED"
	}
	found.Expected, found.Actual = template.JSON(want), template.JSON(now)
	return found
}

// normalised normalises a value, so that scalars given as texts compare equal to others.
func normalised(v any) any {
	text := template.JSON(v)
	parsed, err := template.ParseValue(text)
	if err != nil {
		return v
	}
	return shownValue(parsed)
}

func differences(path string, want, now any) []difference {
	w, isObject := want.(map[string]any)
	n, both := now.(map[string]any)
	if !isObject || !both {
		if reflect.DeepEqual(want, now) || sameDocument(want, now) {
			return nil
		}
		return []difference{{path, shownText(want), shownText(now), "NOT_EQUAL"}}
	}
	var all []difference
	for _, name := range changedProperties(w, n) {
		a, had := w[name]
		b, has := n[name]
		switch {
		case !had:
			all = append(all, difference{path + "/" + name, "null", shownText(b), "ADD"})
		case !has:
			all = append(all, difference{path + "/" + name, shownText(a), "null", "REMOVE"})
		default:
			all = append(all, differences(path+"/"+name, a, b)...)
		}
	}
	return all
}

// sameDocument reports whether two texts are the same JSON.
func sameDocument(a, b any) bool {
	x, xText := a.(string)
	y, yText := b.(string)
	if !xText || !yText || !strings.HasPrefix(strings.TrimSpace(x), "{") {
		return false
	}
	v, err1 := template.ParseValue(x)
	w, err2 := template.ParseValue(y)
	return err1 == nil && err2 == nil && reflect.DeepEqual(shownValue(v), shownValue(w))
}

func (s *Service) describeDriftDetection(_ context.Context, scope aws.Scope, in *struct {
	ID string `json:"StackDriftDetectionId"`
}) (*struct {
	StackID   string `json:"StackId"`
	ID        string `json:"StackDriftDetectionId"`
	Drift     string `json:"StackDriftStatus"`
	Status    string `json:"DetectionStatus"`
	Count     int    `json:"DriftedStackResourceCount"`
	Timestamp server.Time
}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.drifts[in.ID]
	if d == nil {
		return nil, invalid("No drift detection operation found with the provided id %s", in.ID)
	}
	return &struct {
		StackID   string `json:"StackId"`
		ID        string `json:"StackDriftDetectionId"`
		Drift     string `json:"StackDriftStatus"`
		Status    string `json:"DetectionStatus"`
		Count     int    `json:"DriftedStackResourceCount"`
		Timestamp server.Time
	}{d.stackID, d.id, d.status, "DETECTION_COMPLETE", d.count, timeOf(d.at)}, nil
}

// shownDrift returns a resource's drift as in responses.
func shownDrift(st *stack, r *record, d *drift) map[string]any {
	m := map[string]any{"StackId": st.ID, "LogicalResourceId": r.ID, "PhysicalResourceId": r.Physical,
		"ResourceType": r.Type, "StackResourceDriftStatus": d.Status, "Timestamp": timeOf(d.At)}
	for name, v := range map[string]string{"ExpectedProperties": d.Expected, "ActualProperties": d.Actual,
		"DriftStatusReason": d.Reason} {
		if v != "" {
			m[name] = v
		}
	}
	if d.Status == "MODIFIED" || d.Status == "IN_SYNC" {
		list := d.Differences
		if list == nil {
			list = []difference{}
		}
		m["PropertyDifferences"] = list
	}
	return m
}

func (s *Service) detectStackResourceDrift(ctx context.Context, scope aws.Scope, in *driftRequest) (*struct {
	Drift map[string]any `json:"StackResourceDrift"`
}, error) {
	s.mu.Lock()
	st, err := s.find(scope, in.Stack)
	if err == nil && (st.resources[in.ID] == nil || !st.resources[in.ID].exists()) {
		err = invalid("Resource %s does not exist for stack %s", in.ID, in.Stack)
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	now := st.copied()
	s.mu.Unlock()
	found := s.drifted(ctx, now, in.ID)
	var out map[string]any
	err = s.change(func(k *keeper) error {
		r := st.resources[in.ID]
		if r == nil {
			return fmt.Errorf("the resource %s is gone", in.ID)
		}
		r.Drift = found
		k.resource(st, r)
		out = shownDrift(st, r, found)
		return nil
	})
	return &struct {
		Drift map[string]any `json:"StackResourceDrift"`
	}{out}, err
}

func (s *Service) describeStackResourceDrifts(_ context.Context, scope aws.Scope, in *driftRequest) (*struct {
	Drifts []map[string]any `json:"StackResourceDrifts"`
	Next   string           `json:"NextToken,omitempty"`
}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.find(scope, in.Stack)
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	for _, id := range st.ids() {
		r := st.resources[id]
		// Resources that cannot be checked are included only on request.
		if r.Drift == nil || len(in.Status) == 0 && r.Drift.Status == "NOT_CHECKED" ||
			len(in.Status) > 0 && !slices.Contains(in.Status, r.Drift.Status) {
			continue
		}
		list = append(list, shownDrift(st, r, r.Drift))
	}
	page, next, err := pageOf(list, in.Token, cmp.Or(in.Max, stacksPage))
	return &struct {
		Drifts []map[string]any `json:"StackResourceDrifts"`
		Next   string           `json:"NextToken,omitempty"`
	}{page, next}, err
}
