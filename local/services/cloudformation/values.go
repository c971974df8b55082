package cloudformation

import (
	"strings"
)

func (d *deployment) ref(id string) (any, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r := d.st.resources[id]
	if r == nil || !r.exists() {
		return nil, invalid("Template error: %s is referred to and not there", id)
	}
	return r.ref(), nil
}

// ref returns the value of a Ref.
func (r *made) ref() string {
	if r.Ref != "" {
		return r.Ref
	}
	return r.Physical
}

// exists reports whether the resource exists, according to its record.
func (r *record) exists() bool {
	return r.Physical != "" && r.Status != "DELETE_COMPLETE" && r.Status != "DELETE_SKIPPED"
}

func (d *deployment) attribute(id, name string) (any, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r := d.st.resources[id]
	if r == nil || !r.exists() {
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
	// An attribute of an object, such as Endpoint.Address, is looked up one part at a time.
	head, rest, ok := strings.Cut(name, ".")
	if m, isObject := r.Attributes[head].(map[string]any); ok && isObject {
		if v, ok := m[rest]; ok {
			return v, nil
		}
	}
	// A resource's properties can also be read as attributes, such as the DisplayName of a topic. This was recorded
	// from AWS.
	if v, ok := r.Properties[name]; ok {
		return v, nil
	}
	return nil, noAttribute(r.ID, name)
}

// importValue returns the value of another stack's export, and records that this stack imports it.
func (d *deployment) importValue(name string) (string, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	value, _, ok := d.s.export(d.st.scope(), name)
	if !ok {
		return "", invalid("No export named %s found.", name)
	}
	return value, nil
}
