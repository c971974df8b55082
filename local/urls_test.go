package local_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"stepback/local"
	"stepback/local/services/lambda/functions"
)

// CloudFormation publishes a layer and creates the URL of a function, which a page of another origin requests.
func TestAStackGivesAFunctionAURL(t *testing.T) {
	t.Parallel()
	greets := func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: func(in struct {
			RawPath string `json:"rawPath"`
		}) (map[string]any, error) {
			return map[string]any{"statusCode": http.StatusCreated, "body": "hello " + in.RawPath}, nil
		}}, nil
	}
	p := open(t, local.Config{BuiltIn: map[string]functions.BuiltIn{"greets": greets}})
	s := stacksOf(t, p)
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "greets", BuiltIn: "greets",
		Role: "arn:aws:iam::000000000000:role/r"}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.Create("data"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, put := range []struct {
		path string
		body []byte
	}{{"/code", nil}, {"/code/layer.zip", b.Bytes()}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.Endpoint+put.path,
			bytes.NewReader(put.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", signedAsLocal)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != http.StatusOK {
			t.Fatal(put.path, a.Status)
		}
	}
	s.call("CreateStack", map[string]any{"StackName": "web", "TemplateBody": `{"Resources":{
		"Layer":{"Type":"AWS::Lambda::LayerVersion","Properties":{"LayerName":"tools",
			"Content":{"S3Bucket":"code","S3Key":"layer.zip"}}},
		"Url":{"Type":"AWS::Lambda::Url","Properties":{"TargetFunctionArn":"greets","AuthType":"NONE",
			"Cors":{"AllowOrigins":["*"]}}}},
		"Outputs":{"Url":{"Value":{"Fn::GetAtt":["Url","FunctionUrl"]}},"Layer":{"Value":{"Ref":"Layer"}}}}`})
	if status, reason := s.settled("web"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("web"))
	}
	outputs := map[string]string{}
	stacks, _ := s.call("DescribeStacks", map[string]any{"StackName": "web"})["Stacks"].([]any)
	list, _ := stacks[0].(map[string]any)["Outputs"].([]any)
	for _, o := range list {
		output, _ := o.(map[string]any)
		key, _ := output["OutputKey"].(string)
		outputs[key], _ = output["OutputValue"].(string)
	}
	if outputs["Layer"] != "arn:aws:lambda:us-east-1:000000000000:layer:tools:1" {
		t.Errorf("outputs %v", outputs)
	}
	u, err := url.Parse(outputs["Url"])
	if err != nil || !strings.Contains(u.Host, ".lambda-url.us-east-1.localhost:") {
		t.Fatalf("the URL is %v, %v", outputs["Url"], err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.Endpoint+"/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = u.Host
	r.Header.Set("Origin", "https://shop.example")
	r.Header.Set("Accept", "text/html")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusCreated || string(body) != "hello /orders" ||
		a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %s %v, %v", a.StatusCode, body, a.Header, err)
	}
	s.call("DeleteStack", map[string]any{"StackName": "web"})
	if status, reason := s.settled("web"); status != "GONE" {
		t.Fatal(status, reason, s.events("web"))
	}
}
