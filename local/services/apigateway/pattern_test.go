package apigateway

import (
	"maps"
	"testing"
)

func TestTheMostSpecificRouteAnswers(t *testing.T) {
	t.Parallel()
	d := &deployment{}
	for _, key := range []string{"$default", "ANY /{proxy+}", "GET /pets/dog/1", "GET /pets/dog/{id}", "GET /pets/{proxy+}",
		"ANY /pets", "GET /pets", "GET /orders/{id}/lines/{line}"} {
		d.Routes = append(d.Routes, &route{routeSettingsOfAPI: routeSettingsOfAPI{RouteKey: key}})
	}
	if err := d.compile(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, key string
		variables         map[string]string
	}{
		{"GET", "/pets/dog/1", "GET /pets/dog/1", nil},
		{"GET", "/pets/dog/2", "GET /pets/dog/{id}", map[string]string{"id": "2"}},
		{"GET", "/pets/dog/a%20b", "GET /pets/dog/{id}", map[string]string{"id": "a b"}},
		{"GET", "/pets/cat/1", "GET /pets/{proxy+}", map[string]string{"proxy": "cat/1"}},
		{"POST", "/pets/dog/1", "ANY /{proxy+}", map[string]string{"proxy": "pets/dog/1"}},
		{"GET", "/pets", "GET /pets", nil},
		{"PUT", "/pets", "ANY /pets", nil},
		{"GET", "/pets/", "ANY /{proxy+}", map[string]string{"proxy": "pets/"}},
		{"GET", "/", "$default", nil},
		{"GET", "/orders/7/lines/2", "GET /orders/{id}/lines/{line}", map[string]string{"id": "7", "line": "2"}},
		{"GET", "/orders//lines/2", "ANY /{proxy+}", map[string]string{"proxy": "orders//lines/2"}},
	} {
		r, variables := d.find(c.method, c.path)
		if r == nil || r.RouteKey != c.key || !maps.Equal(variables, c.variables) {
			t.Errorf("%s %s: %v with %v, want %s with %v", c.method, c.path, r, variables, c.key, c.variables)
		}
	}
	d.Routes, d.compiled = d.Routes[2:3], d.compiled[2:3]
	if r, _ := d.find("GET", "/nothing"); r != nil {
		t.Errorf("%v", r)
	}
}

func TestRouteKeysThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "/pets", "GET pets", "FETCH /pets", "GET /{proxy+}/more", "GET /{}", "GET /{a}/{a}", "GET /a{b}c"} {
		if _, err := compile(key); err == nil {
			t.Errorf("%q is taken for a route key", key)
		}
	}
}

func FuzzRouteKeys(f *testing.F) {
	f.Add("GET /pets/{id}", "/pets/1")
	f.Add("ANY /{proxy+}", "/%zz")
	f.Fuzz(func(_ *testing.T, key, path string) {
		if p, err := compile(key); err == nil {
			p.match("GET", path)
		}
	})
}
