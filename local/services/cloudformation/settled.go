package cloudformation

import (
	"reflect"
	"strings"
	"sync"

	"stepback/local/services/cloudformation/template"
)

// settled determines which values a deployment leaves as they are although they evaluate to something else: those whose
// text in the template is the same as in the deployed one, and which refer only to resources and parameters that the
// deployment does not change. As on AWS, an attribute that has changed by itself changes nothing. For example, a state
// machine has a new revision after a rollback, but its version stays.
type settled struct {
	s  *Service
	st *stack
	c  *compiled
	to *deployed
	// changes reports whether the deployment changes a resource.
	changes func(id string) bool

	compile sync.Once
	old     deployed
	was     *compiled // the deployed template; nil if the new one cannot be compared with it
}

// keep replaces properties of a resource that are settled with its current ones.
func (k *settled) keep(id string, current, properties map[string]any) {
	for _, name := range changedProperties(current, properties) {
		before, had := current[name]
		if _, has := properties[name]; !had || !has || !k.comparable() {
			continue
		}
		then := k.was.Resource(id)
		if then != nil && k.same(then.Properties[name], k.c.Resource(id).Properties[name]) {
			properties[name] = before
		}
	}
}

// output returns the current output instead of a new one that is settled. No resource changes.
func (k *settled) output(declared template.Output, now output) output {
	for _, before := range k.st.Outputs {
		if before.Key != now.Key || before == now || before.Export != now.Export || !k.comparable() {
			continue
		}
		for _, then := range k.was.Outputs {
			if then.ID == declared.ID && then.Description == declared.Description &&
				k.same(then.Value, declared.Value) {
				return before
			}
		}
	}
	return now
}

// comparable compiles the deployed template at the first call and reports whether the new template can be compared with
// it. After an operation that failed and was not rolled back, resources are not as the deployed template says.
func (k *settled) comparable() bool {
	k.compile.Do(func() {
		k.s.mu.Lock()
		old, paused := k.st.deployed, k.st.Paused != nil
		k.s.mu.Unlock()
		if old.Template == "" || paused {
			return
		}
		to := old
		was, err := k.s.compile(k.st.scope(), k.st.Name, k.st.ID, &to)
		if err == nil && reflect.DeepEqual(was.Mappings, k.c.Mappings) &&
			reflect.DeepEqual(was.conditions, k.c.conditions) {
			k.old, k.was = old, was
		}
	})
	return k.was != nil
}

// same reports whether a value has the same text in both templates, and refers to nothing that the deployment changes
// or that lies outside of the stack.
func (k *settled) same(then, now any) bool {
	if !reflect.DeepEqual(then, now) {
		return false
	}
	if text := template.JSON(now); strings.Contains(text, "Fn::ImportValue") || strings.Contains(text, "{{resolve:") ||
		strings.Contains(text, "AWS::NotificationARNs") {
		return false
	}
	same := true
	template.References(now, k.c.conditions, func(ref template.Reference) {
		value, isParameter := k.to.Values[ref.Name]
		switch {
		case isParameter:
			same = same && value == k.old.Values[ref.Name] && k.to.Resolved[ref.Name] == k.old.Resolved[ref.Name]
		case !strings.HasPrefix(ref.Name, "AWS::"):
			same = same && !k.changes(ref.Name)
		}
	})
	return same
}
