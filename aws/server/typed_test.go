package server

import (
	"encoding/json"
	"reflect"
	"testing"

	"stepback/jsonvalue"
)

type paged struct {
	Max  int64 `json:"max"`
	Next *string
}

type order struct {
	paged
	Name     string            `json:"name"`
	Note     *string           `json:"note,omitempty"`
	Share    *float64          `json:"share"`
	Count    *int64            `json:"count"`
	Small    int8              `json:"small"`
	Publish  bool              `json:"publish"`
	Keys     []string          `json:"keys"`
	Labels   map[string]string `json:"labels"`
	Delivery *struct {
		City string `json:"city"`
	} `json:"delivery"`
}

// read fills an order from a request.
func read(t *testing.T, text string) (*order, error) {
	t.Helper()
	request, err := jsonvalue.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	o := new(order)
	return o, fieldsOf(reflect.TypeFor[order]()).fill(reflect.ValueOf(o).Elem(), request)
}

func TestFill(t *testing.T) {
	t.Parallel()
	o, err := read(t, `{"max":7,"name":"n","note":"","share":0.5,"count":3,"publish":true,"keys":["a","b"],
		"labels":{"x":"y"},"delivery":{"city":"c","street":"s"},"unknown":{"a":[1]},"NOTE":"other"}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(o)
	const want = `{"max":7,"Next":null,"name":"n","note":"","share":0.5,"count":3,"small":0,"publish":true,"keys":["a","b"],` +
		`"labels":{"x":"y"},"delivery":{"city":"c"}}`
	if err != nil || string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if o, err := read(t, `{"name":null,"note":null,"keys":null}`); err != nil || !reflect.DeepEqual(o, new(order)) {
		t.Errorf("nulls: %+v %v", o, err)
	}
}

// Values that the structure's fields cannot hold are errors, although the check of a real request would not let them
// through.
func TestFillOtherTypes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"name":1}`, `{"name":[]}`, `{"name":{}}`, `{"name":true}`, `{"publish":"yes"}`, `{"max":1.5}`,
		`{"small":300}`, `{"share":1e999}`,
		`{"keys":{}}`, `{"keys":[1]}`, `{"keys":"k"}`, `{"labels":{"a":1}}`, `{"labels":[]}`, `{"delivery":{"city":1}}`,
		`{"delivery":"d"}`,
	} {
		if o, err := read(t, text); err == nil {
			t.Errorf("%s: %+v", text, o)
		}
	}
}
