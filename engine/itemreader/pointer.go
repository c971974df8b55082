package itemreader

import (
	"strconv"
	"strings"
)

// parsePointer splits a JSON Pointer (RFC 6901) into its reference tokens.
func parsePointer(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, failf("ItemsPointer %q is not a JSON Pointer: it must start with '/', for example /inventory/products", pointer)
	}
	steps := strings.Split(pointer[1:], "/")
	for i, step := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
	}
	return steps, nil
}

// descend moves the cursor to the value at the end of steps. If two members have the same name, it takes the first
// one, because the document is read only once.
func (r *jsonRecords) descend(pointer string, steps []string) error {
	for i, step := range steps {
		b, err := r.peek()
		if err != nil {
			return err
		}
		found := false
		switch b {
		case '{':
			found, err = r.toMember(step)
		case '[':
			found, err = r.toElement(step)
		}
		if err != nil {
			return err
		}
		if !found {
			return failf("%s: ItemsPointer %q finds nothing: there is no %q in the JSON document",
				r.where, pointer, "/"+strings.Join(steps[:i+1], "/"))
		}
	}
	return nil
}

func (r *jsonRecords) toMember(name string) (bool, error) {
	r.w.advance(1, 0)
	for first := true; ; first = false {
		more, err := r.separator('}', first)
		if err != nil || !more {
			return false, err
		}
		key, err := r.memberName()
		if err != nil {
			return false, err
		}
		if key == name {
			return true, nil
		}
		if err := r.pass(); err != nil {
			return false, err
		}
	}
}

func (r *jsonRecords) toElement(step string) (bool, error) {
	index, err := strconv.ParseUint(step, 10, 63)
	if err != nil || step != strconv.FormatUint(index, 10) {
		return false, nil //nolint:nilerr // an array has no such element
	}
	r.w.advance(1, 0)
	for at := uint64(0); ; at++ {
		more, err := r.separator(']', at == 0)
		if err != nil || !more {
			return false, err
		}
		if at == index {
			return true, nil
		}
		if err := r.pass(); err != nil {
			return false, err
		}
	}
}
