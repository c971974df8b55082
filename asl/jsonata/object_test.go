package jsonata

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"stepback/jsonvalue"
)

// properties is a simple model of an object: array indexes in front and ascending, others in insertion order.
type properties struct {
	names []string
	vals  map[string]float64
}

func (p *properties) set(key string, v float64) {
	if _, ok := p.vals[key]; !ok {
		p.names = append(p.names, key)
	}
	p.vals[key] = v
}

func (p *properties) order() []string {
	var indexes, others []string
	for _, key := range p.names {
		if isIndex(key) {
			indexes = append(indexes, key)
		} else {
			others = append(others, key)
		}
	}
	slices.SortFunc(indexes, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	return append(indexes, others...)
}

// Objects behave like a simple model through any sequence of changes.
func TestObjectsOrderTheirMembers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o, model := newObject(0), &properties{vals: map[string]float64{}}
		keys := rapid.StringMatching(`[0-9]{1,3}|[a-c]{1,2}|0[0-9]`)
		for i := range rapid.IntRange(0, 60).Draw(t, "changes") {
			switch key := keys.Draw(t, "key"); rapid.IntRange(0, 9).Draw(t, "change") {
			case 0:
				gone := map[string]bool{key: true}
				o.removeAll(gone)
				delete(model.vals, key)
				model.names = slices.DeleteFunc(model.names, func(name string) bool { return gone[name] })
			case 1:
				if got := o.names(); !slices.Equal(got, model.order()) {
					t.Fatalf("%v, want %v", got, model.order())
				}
			default:
				o.set(key, float64(i))
				model.set(key, float64(i))
			}
			probe := keys.Draw(t, "probe")
			want, ok := model.vals[probe]
			if got := o.get(probe); ok && got != value(want) || !ok && got != nil {
				t.Fatalf("%s is %v, want %v", probe, got, want)
			}
		}
		order := model.order()
		if !slices.Equal(o.names(), order) {
			t.Fatalf("%v, want %v", o.names(), order)
		}
		for i, key := range order {
			if o.at(i) != value(model.vals[key]) {
				t.Fatalf("%s is %v", key, o.at(i))
			}
		}
		if got, _ := toJSON(o); got.Kind() != jsonvalue.Object || !slices.Equal(got.Keys(), order) {
			t.Fatalf("%s", got.JSON())
		}
	})
}
