package cloudformation

import (
	"strings"
)

func (d *deployment) ref(id string) (any, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r := d.st.resources[id]
	if r == nil || !r.there() {
		return nil, invalid("Template error: %s is referred to and not there", id)
	}
	return r.ref(), nil
}

// ref is what a Ref gives.
func (r *made) ref() string {
	if r.Ref != "" {
		return r.Ref
	}
	return r.Physical
}

// there reports whether a resource is there, as far as its record knows.
func (r *record) there() bool {
	return r.Physical != "" && r.Status != "DELETE_COMPLETE" && r.Status != "DELETE_SKIPPED"
}

func (d *deployment) attribute(id, name string) (any, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r := d.st.resources[id]
	if r == nil || !r.there() {
		return nil, invalid("Template error: %s is referred to and not there", id)
	}
	return r.attribute(name)
}

func (r *record) attribute(name string) (any, error) {
	if v, ok := r.Attributes[name]; ok {
		return v, nil
	}
	if isCustom(r.Type) {
		return nil, invalid("CustomResource attribute error: Vendor response doesn't contain %s key in object %s", name,
			r.Physical)
	}
	// Attributes of objects, such as Endpoint.Address, are found by their parts.
	head, rest, ok := strings.Cut(name, ".")
	if m, isObject := r.Attributes[head].(map[string]any); ok && isObject {
		if v, ok := m[rest]; ok {
			return v, nil
		}
	}
	// As recorded, what a resource was given can be asked for, too: the DisplayName of a topic.
	if v, ok := r.Properties[name]; ok {
		return v, nil
	}
	return nil, invalid("Template error: resource %s does not support attribute type %s in Fn::GetAtt", r.ID, name)
}

// importValue is the value of an export of another stack, which the stack uses from now on.
func (d *deployment) importValue(name string) (string, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	value, _, ok := d.s.export(d.st.scope(), name)
	if !ok {
		return "", invalid("No export named %s found.", name)
	}
	return value, nil
}
