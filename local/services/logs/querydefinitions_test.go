package logs_test

import (
	"reflect"
	"testing"
)

func TestQueryDefinitions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const token = `,"clientToken":"0123456789abcdef0123456789abcdef0123"}`
	put := func(parameters string) string {
		t.Helper()
		a := s.call("PutQueryDefinition", parameters)
		id, _ := a["queryDefinitionId"].(string)
		if id == "" {
			t.Fatal(parameters, a)
		}
		return id
	}
	b := put(`{"name":"p/b","queryString":"fields @message","logGroupNames":["g"]` + token)
	if again := put(`{"name":"p/b","queryString":"fields @message","logGroupNames":["g"]` + token); again != b {
		t.Errorf("the same token made %s and %s", b, again)
	}
	a := put(`{"name":"p/a","queryString":"stats count()","queryLanguage":"CWLI"}`)
	put(`{"name":"other","queryString":"x"}`)
	put(`{"name":"p/b","queryString":"fields @timestamp","queryDefinitionId":"` + b + `"}`)
	described := func(id, name, query string, groups ...any) map[string]any {
		return map[string]any{"queryLanguage": "CWLI", "queryDefinitionId": id, "name": name, "queryString": query,
			"lastModified": 1_700_000_000_000.0, "logGroupNames": append([]any{}, groups...)}
	}
	page := s.call("DescribeQueryDefinitions", `{"queryDefinitionNamePrefix":"p/","maxResults":1}`)
	if !reflect.DeepEqual(page["queryDefinitions"], []any{described(a, "p/a", "stats count()")}) {
		t.Error(page)
	}
	page = s.call("DescribeQueryDefinitions", `{"queryDefinitionNamePrefix":"p/","maxResults":1,"nextToken":"`+
		page["nextToken"].(string)+`"}`)
	if !reflect.DeepEqual(page, map[string]any{"queryDefinitions": []any{described(b, "p/b", "fields @timestamp")}}) {
		t.Error(page)
	}
	if gone := s.call("DeleteQueryDefinition", `{"queryDefinitionId":"`+a+`"}`); gone["success"] != true {
		t.Error(gone)
	}
	const none = "ResourceNotFoundException: The specified query definition does not exist."
	s.ends("DeleteQueryDefinition", `{"queryDefinitionId":"`+a+`"}`, none)
	s.ends("PutQueryDefinition", `{"name":"x","queryString":"y","queryDefinitionId":"`+a+`"}`, none)
}
