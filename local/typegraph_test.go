package local_test

import (
	"reflect"
	"strings"
	"testing"

	"stepback/local"
)

// TestPlatformReachesNoTree checks that the fields of a platform reach no generic types of libraries, such as the
// B-trees of Pebble and of the lists of executions. The compiler would compile their methods again in each of some
// fifty packages that use a platform or one of its services: most of the machine code of these packages, and a sixth of
// the time that make run takes to compile (decision 096).
func TestPlatformReachesNoTree(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(of reflect.Type, path string)
	walk = func(of reflect.Type, path string) {
		if seen[of] {
			return
		}
		seen[of] = true
		path += " " + of.String()
		if module, _, found := strings.Cut(of.PkgPath(), "/"); found && strings.Contains(module, ".") &&
			strings.Contains(of.Name(), "[") {
			t.Errorf("a generic type of a library is reached:%s", path)
			return
		}
		switch of.Kind() {
		case reflect.Array, reflect.Chan, reflect.Pointer, reflect.Slice:
			walk(of.Elem(), path)
		case reflect.Map:
			walk(of.Key(), path)
			walk(of.Elem(), path)
		case reflect.Struct:
			for _, f := range reflect.VisibleFields(of) {
				walk(f.Type, path+"."+f.Name)
			}
		case reflect.Func:
			for in := range of.Ins() {
				walk(in, path)
			}
			for out := range of.Outs() {
				walk(out, path)
			}
		default:
		}
		for method := range of.Methods() {
			walk(method.Type, path+"."+method.Name)
		}
	}
	walk(reflect.TypeFor[*local.Platform](), "")
	if len(seen) < 1000 {
		t.Errorf("only %d types are reached", len(seen))
	}
}
