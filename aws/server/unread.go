package server

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// WholeInput is the value of Operation.Reads for a function that reads every member of its input, or that itself
// rejects the ones it does not support.
type WholeInput struct{}

// Members is the value of Operation.Reads for a function that reads these members of its input, with everything in
// them.
type Members []string

// Together is the value of Operation.Reads for a function that reads all that its elements declare.
type Together []any

// Within is the value of Operation.Reads for a function that parses members of its input itself: it maps the names of
// these members to what the function reads of them, each in the form of Operation.Reads.
type Within map[string]any

// Reading returns the operation with more members that Call reads, each in the form of Operation.Reads.
func (o Operation) Reading(more ...any) Operation {
	o.Reads = append(Together{o.Reads}, more...)
	return o
}

// fieldsRead returns the fields that a value of Operation.Reads declares; all is true if it declares all members.
func fieldsRead(reads any) (f fields, all bool) {
	switch reads := reads.(type) {
	case WholeInput:
		return nil, true
	case nil:
		return fields{}, false
	case Members:
		f = fields{}
		for _, name := range reads {
			f[name] = field{}
		}
		return f, false
	case Within:
		f = fields{}
		for name, inner := range reads {
			f[name] = field{}
			if inner, whole := fieldsRead(inner); !whole {
				f[name] = field{inner: inner}
			}
		}
		return f, false
	case Together:
		f = fields{}
		for _, each := range reads {
			more, whole := fieldsRead(each)
			if whole {
				return nil, true
			}
			maps.Copy(f, more)
		}
		return f, false
	default:
		return fieldsOf(reflect.TypeOf(reads)), false
	}
}

// unreadMembers holds the members of an input that an operation does not read: true for a member that is not read at
// all, a nested unreadMembers for a member of which only some members are read.
type unreadMembers struct {
	members  map[string]*unreadMembers
	elements *unreadMembers // of a list's elements, or a map's values
	whole    bool
}

// unreadOf compares an input's shape with the fields that a function reads, and returns nil if it reads everything.
// accepted contains the paths of members that are stored or ignored on purpose, such as "Tags.Key"; a path reaches
// into lists and maps without naming their elements.
func unreadOf(s *model.Shape, read fields, accepted func(path string) bool) *unreadMembers {
	return compareRead(s, read, accepted, "", map[*model.Shape]bool{})
}

func compareRead(s *model.Shape, read fields, accepted func(string) bool, path string, within map[*model.Shape]bool) *unreadMembers {
	switch s.Type {
	case model.List, model.Map:
		if inner := compareRead(s.Element.Shape, read, accepted, path, within); inner != nil {
			return &unreadMembers{elements: inner}
		}
		return nil
	case model.Structure:
	default:
		return nil
	}
	if read == nil || within[s] { // a field that receives the whole document, or a recursive shape
		return nil
	}
	within[s] = true
	defer delete(within, s)
	found := &unreadMembers{members: map[string]*unreadMembers{}}
	for _, m := range s.Members {
		at := strings.TrimPrefix(path+"."+m.Name, ".")
		f, ok := read[m.Name]
		switch {
		case accepted(at):
		case !ok:
			found.members[m.Name] = &unreadMembers{whole: true}
		default:
			if inner := compareRead(m.Shape, f.inner, accepted, at, within); inner != nil {
				found.members[m.Name] = inner
			}
		}
	}
	if len(found.members) == 0 {
		return nil
	}
	return found
}

// sent returns the path of a member in the document that the operation does not read, or "". A member that says the
// same as its absence counts as absent: null, false, and an empty list, map or structure.
func (u *unreadMembers) sent(document jsonvalue.Value) string {
	if u == nil {
		return ""
	}
	if u.elements != nil {
		switch document.Kind() {
		case jsonvalue.Array:
			for i, e := range document.Elements() {
				if path := u.elements.sent(e); path != "" {
					return fmt.Sprintf("[%d].%s", i, path)
				}
			}
		case jsonvalue.Object:
			for i, key := range document.Keys() {
				if path := u.elements.sent(document.At(i)); path != "" {
					return fmt.Sprintf("[%q].%s", key, path)
				}
			}
		default:
		}
		return ""
	}
	if document.Kind() != jsonvalue.Object {
		return ""
	}
	for i, name := range document.Keys() {
		inner, value := u.members[name], document.At(i)
		switch {
		case inner == nil || saysNothing(value):
		case inner.whole:
			return name
		default:
			if path := inner.sent(value); path != "" {
				if strings.HasPrefix(path, "[") {
					return name + path
				}
				return name + "." + path
			}
		}
	}
	return ""
}

// paths lists the unread members, sorted, without the elements of lists and maps.
func (u *unreadMembers) paths(prefix string) (all []string) {
	switch {
	case u == nil:
	case u.whole:
		return []string{prefix}
	case u.elements != nil:
		return u.elements.paths(prefix)
	default:
		for _, name := range slices.Sorted(maps.Keys(u.members)) {
			all = append(all, u.members[name].paths(strings.TrimPrefix(prefix+"."+name, "."))...)
		}
	}
	return all
}

// saysNothing reports whether a member with the value says the same as its absence.
func saysNothing(v jsonvalue.Value) bool {
	switch v.Kind() {
	case jsonvalue.Null:
		return true
	case jsonvalue.Bool:
		return !v.Bool()
	case jsonvalue.Array:
		return len(v.Elements()) == 0
	case jsonvalue.Object:
		return v.Len() == 0
	default:
		return false
	}
}

// refuseUnread returns an error if the document has a member that the operation neither reads nor lists in
// Config.Accepted.
func (o *operation) refuseUnread(document jsonvalue.Value) error {
	path := o.unread.sent(document)
	if path == "" {
		return nil
	}
	return &aws.Error{Code: codeNotImplemented, Status: http.StatusNotImplemented, Message: fmt.Sprintf(
		"%s: the member %s is not supported; docs/services.md lists what this server supports", o.model.Name, path)}
}

// unread returns the members of an operation's input that it neither reads nor accepts.
func (s *Service) unread(o *operation, accepted func(path string) bool) *unreadMembers {
	read, all := fieldsRead(o.Reads)
	if all {
		return nil
	}
	payload := o.model.Input.Payload // Request.Payload, if it is a blob
	return unreadOf(o.model.Input, read, func(path string) bool {
		return accepted(path) || payload != nil && payload.Name == path && payload.Shape.Type == model.Blob
	})
}

// accepts reports whether Config.Accepted lists a member of an operation's input.
func (s *Service) accepts(operation, path string) bool {
	return s.cfg.Accepted[operation][path] != "" || s.cfg.Accepted[""][path] != ""
}

// checkAccepted returns an error for an accepted member of an operation that is not implemented, or without a reason.
func (c *Config) checkAccepted() error {
	for _, name := range slices.Sorted(maps.Keys(c.Accepted)) {
		if _, ok := c.Operations[name]; !ok && name != "" {
			return fmt.Errorf("Config.Accepted of %s: %s is not served", c.Model, name)
		}
		for path, why := range c.Accepted[name] {
			if why == "" {
				return fmt.Errorf("Config.Accepted of %s: %s.%s has no reason", c.Model, name, path)
			}
		}
	}
	return nil
}
