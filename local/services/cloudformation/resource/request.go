package resource

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"stepback/local/services/cloudformation/template"
)

// Name generates a physical name of at most longest characters, as CloudFormation does: STACK-LOGICALID-SUFFIX.
func (r *Request) Name(longest int) string {
	stack, id := r.Stack, r.LogicalID
	room := longest - len(r.Suffix) - 2
	if len(stack)+len(id) > room {
		id = id[:min(len(id), max(room/2, room-len(stack)))]
		stack = stack[:min(len(stack), room-len(id))]
	}
	return strings.Trim(stack+"-"+id+"-"+r.Suffix, "-")
}

// text returns a property as a text; empty if it is missing.
func (r *Request) text(name string) string { return textOf(r.Properties, name) }

func textOf(m map[string]any, name string) string {
	s, _ := template.TextOf(m[name])
	return s
}

func (r *Request) has(name string) bool { _, ok := r.Properties[name]; return ok }

// changed reports whether any of the properties differs from its previous value.
func (r *Request) changed(names ...string) bool {
	for _, n := range names {
		if !reflect.DeepEqual(r.Properties[n], r.Previous[n]) {
			return true
		}
	}
	return false
}

// named returns the name that a property gives, or a generated one. For types that are identified by their name,
// that is the physical ID.
func (r *Request) named(property string, longest int) string {
	if name := r.text(property); name != "" {
		return name
	}
	if r.ID != "" {
		return r.ID
	}
	return r.Name(longest)
}

func nonempty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// object returns a property that is an object; nil if it is not an object.
func object(m map[string]any, name string) map[string]any { o, _ := m[name].(map[string]any); return o }

func list(m map[string]any, name string) []any { l, _ := m[name].([]any); return l }

// texts returns the elements of a property that is a list of texts.
func texts(m map[string]any, name string) []string {
	all := []string{}
	for _, e := range list(m, name) {
		if s, ok := template.TextOf(e); ok {
			all = append(all, s)
		}
	}
	return all
}

// pick copies the named members that exist. A name of the form A=B copies A as B.
func pick(m map[string]any, names string) map[string]any {
	to := map[string]any{}
	for _, n := range strings.Fields(names) {
		from, as, renamed := strings.Cut(n, "=")
		if !renamed {
			as = from
		}
		if v, ok := m[from]; ok {
			to[as] = v
		}
	}
	return to
}

// set adds a member if it has a value.
func set(m map[string]any, name string, v any) {
	switch x := v.(type) {
	case nil:
		return
	case string:
		if x == "" {
			return
		}
	case []any:
		if len(x) == 0 {
			return
		}
	case map[string]any:
		if len(x) == 0 {
			return
		}
	}
	m[name] = v
}

// document returns a policy or another document as text: an object as JSON, a text unchanged.
func document(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return ""
	}
	return template.JSON(v)
}

// attributeText converts a member of a response to an attribute's form: a number becomes text, and a date, whose name
// ends in Date, becomes ISO 8601.
func attributeText(name string, v any) any {
	n, isNumber := v.(float64)
	switch {
	case !isNumber:
		return v
	case strings.HasSuffix(name, "Date"):
		return time.UnixMilli(int64(n * 1000)).UTC().Format(time.RFC3339)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// tags returns the tags of the stack and of the resource; the resource's take precedence.
func (r *Request) tags() map[string]string { return merge(r.Tags, r.Properties) }

func merge(stack map[string]string, p map[string]any) map[string]string {
	all := map[string]string{}
	for k, v := range stack {
		all[k] = v
	}
	switch t := p["Tags"].(type) {
	case []any:
		for _, e := range t {
			m, _ := e.(map[string]any)
			all[textOf(m, "Key")] = textOf(m, "Value")
		}
	case map[string]any:
		for k := range t {
			all[k] = textOf(t, k)
		}
	}
	return all
}

// tagList returns tags as a list, as most APIs expect, with the given member names.
func tagList(tags map[string]string, key, value string) []any {
	names := make([]string, 0, len(tags))
	for k := range tags {
		names = append(names, k)
	}
	sort.Strings(names)
	l := make([]any, 0, len(names))
	for _, k := range names {
		l = append(l, map[string]any{key: k, value: tags[k]})
	}
	return l
}

func (r *Request) tagList() []any { return tagList(r.tags(), "Key", "Value") }

// tagChanges returns the tags to set, and the keys of those to remove.
func (r *Request) tagChanges() (set map[string]string, remove []string) {
	now, before := r.tags(), merge(r.PreviousTags, r.Previous)
	set = map[string]string{}
	for k, v := range now {
		if old, ok := before[k]; !ok || old != v {
			set[k] = v
		}
	}
	for k := range before {
		if _, ok := now[k]; !ok {
			remove = append(remove, k)
		}
	}
	slices.Sort(remove)
	return set, remove
}

// retag updates the tags of a resource with the operations tag and untag. The input of both also contains the
// members in of.
func (r *Request) retag(ctx context.Context, service, tag, untag string, of map[string]any, tagsMember, keysMember string,
	asList func(map[string]string) any,
) error {
	set, remove := r.tagChanges()
	if len(set) > 0 {
		in := pick(of, strings.Join(keysOf(of), " "))
		in[tagsMember] = asList(set)
		if err := r.Call(ctx, service, tag, in, nil); err != nil {
			return err
		}
	}
	if len(remove) > 0 {
		in := pick(of, strings.Join(keysOf(of), " "))
		in[keysMember] = remove
		return r.Call(ctx, service, untag, in, nil)
	}
	return nil
}

func asKeyValue(tags map[string]string) any { return tagList(tags, "Key", "Value") }
func asMap(tags map[string]string) any      { return tags }

func keysOf(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// code returns the code of an API error; empty for other errors.
func code(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

// absent reports whether an error means that the resource does not exist.
func absent(err error) bool {
	c := code(err)
	return strings.Contains(c, "NotFound") || strings.Contains(c, "NoSuch") || strings.Contains(c, "NonExistent") ||
		strings.Contains(c, "DoesNotExist") || c == "NotFoundException"
}

// exists reports whether an error means that the resource to create already exists.
func exists(err error) bool {
	c := code(err)
	return strings.Contains(c, "AlreadyExists") || strings.Contains(c, "AlreadyOwnedByYou") ||
		c == "ResourceConflictException" || c == "ResourceInUseException" || c == "ConflictException"
}

// ignoreAbsent returns nil if the error means that the resource to delete does not exist, otherwise err.
func ignoreAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// goneIfAbsent returns ErrGone if the error means that the resource to read does not exist, otherwise err.
func goneIfAbsent(err error) error {
	if absent(err) {
		return ErrGone
	}
	return err
}

// create calls an operation that creates a resource. If an earlier attempt was interrupted, a resource that already
// exists counts as created; made is then false, and out is not filled.
func (r *Request) create(ctx context.Context, service, operation string, in, out any) (made bool, err error) {
	err = r.Call(ctx, service, operation, in, out)
	if err != nil && r.Again && exists(err) {
		return false, nil
	}
	return err == nil, err
}

// created returns the result of a creation by a single call: the zero State if the call failed, so that a rollback
// does not delete a resource of the same name that belongs to another owner.
func created(s State, err error) (State, error) {
	if err != nil {
		return State{}, err
	}
	return s, nil
}

// parsed parses JSON; it returns the text itself if it is not valid JSON.
func parsed(text string) any {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return text
	}
	return v
}

// after returns the part of a text after the last separator, or the text if it has none.
func after(text, separator string) string {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[i+len(separator):]
	}
	return text
}
