package markup

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
)

// own are the functions that every template can call, and html/template's escapers under the names it gives them. and
// and or are implemented by execution.
var own = map[string]any{
	"not": func(v any) bool { return !truth(reflect.ValueOf(v)) },
	"eq":  equal, "ne": func(a, b any) (bool, error) { is, err := equal(a, b); return !is, err },
	"lt":    func(a, b any) (bool, error) { n, err := compare(a, b); return n < 0, err },
	"le":    func(a, b any) (bool, error) { n, err := compare(a, b); return n <= 0, err },
	"gt":    func(a, b any) (bool, error) { n, err := compare(a, b); return n > 0, err },
	"ge":    func(a, b any) (bool, error) { n, err := compare(a, b); return n >= 0, err },
	"index": index, "len": length, "printf": fmt.Sprintf,
	"_html_template_htmlescaper":   escapeText,
	"_html_template_rcdataescaper": escapeValue,
	"_html_template_attrescaper":   escapeValue,
	"_html_template_urlfilter":     filterURL,
	"_html_template_urlescaper":    func(v any) string { return percent(text(v), false) },
	"_html_template_urlnormalizer": func(v any) string { return percent(text(v), true) },
}

// truth reports whether a value is not the zero value or empty. A struct is always true.
func truth(v reflect.Value) bool {
	if v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return false
	}
	switch v.Kind() { //nolint:exhaustive // the others are true unless they are zero
	case reflect.Struct:
		return true
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() > 0
	}
	return !v.IsZero()
}

// equal reports whether a equals one of the others.
func equal(a any, others ...any) (bool, error) {
	if len(others) == 0 {
		return false, fmt.Errorf("there is nothing to compare %v with", a)
	}
	for _, b := range others {
		if x, y := reflect.ValueOf(a), reflect.ValueOf(b); x.Kind() == reflect.Bool && y.Kind() == reflect.Bool {
			if x.Bool() == y.Bool() {
				return true, nil
			}
		} else if n, err := compare(a, b); err != nil || n == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// compare orders strings and numbers.
func compare(a, b any) (int, error) {
	x, _ := indirect(reflect.ValueOf(a))
	y, _ := indirect(reflect.ValueOf(b))
	switch {
	case x.Kind() == reflect.String && y.Kind() == reflect.String:
		return cmp.Compare(x.String(), y.String()), nil
	case x.CanInt() && y.CanInt():
		return cmp.Compare(x.Int(), y.Int()), nil
	case x.CanUint() && y.CanUint():
		return cmp.Compare(x.Uint(), y.Uint()), nil
	case x.CanInt() && y.CanUint():
		return cmp.Compare(x.Int(), int64(min(y.Uint(), math.MaxInt64))), nil
	case x.CanUint() && y.CanInt():
		return -cmp.Compare(y.Int(), int64(min(x.Uint(), math.MaxInt64))), nil
	case x.CanFloat() && y.CanFloat():
		return cmp.Compare(x.Float(), y.Float()), nil
	}
	return 0, fmt.Errorf("%T and %T cannot be compared", a, b)
}

// index returns an element of a list, or an entry of a map.
func index(of, at any) (any, error) {
	v, _ := indirect(reflect.ValueOf(of))
	i := reflect.ValueOf(at)
	switch {
	case (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && i.CanInt():
		if n := i.Int(); n >= 0 && n < int64(v.Len()) {
			return v.Index(int(n)).Interface(), nil
		}
		return nil, fmt.Errorf("there are %d elements, and none at %d", v.Len(), i.Int())
	case v.Kind() == reflect.Map && i.IsValid() && i.Type().ConvertibleTo(v.Type().Key()):
		value := v.MapIndex(i.Convert(v.Type().Key()))
		if !value.IsValid() {
			value = reflect.Zero(v.Type().Elem())
		}
		return value.Interface(), nil
	}
	return nil, fmt.Errorf("%T has no element %v", of, at)
}

func length(of any) (int, error) {
	v, _ := indirect(reflect.ValueOf(of))
	switch v.Kind() { //nolint:exhaustive // the others have no length
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len(), nil
	}
	return 0, fmt.Errorf("%T has no length", of)
}
