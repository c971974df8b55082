package awssdk_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"stepback/aws/loopback"
	"stepback/tasks/awssdk"
)

// invokeModel can read its input from S3 and write its output there.
func TestModelsReadAndWriteObjects(t *testing.T) {
	t.Parallel()
	objects := map[string]string{"/in/prompt.json": `{"prompt":"p"}`}
	store := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			body, _ := io.ReadAll(r.Body)
			objects[r.URL.Path] = string(body)
			return
		}
		text, ok := objects[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			text = "<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>"
		}
		_, _ = io.WriteString(w, text)
	})
	model := &fake{body: `{"completion":"c"}`, header: http.Header{"Content-Type": {"application/json"}}}
	c := &awssdk.Caller{Account: "123456789012", Region: "eu-west-1", Endpoints: awssdk.Endpoints{
		Embedded: map[string]awssdk.Endpoint{
			"bedrockruntime": {URL: loopback.URL, Client: loopback.Client(model)},
			"s3":             {URL: loopback.URL, Client: loopback.Client(store)},
		},
	}}
	got, err := invoke(c, "bedrock:invokeModel",
		`{"ModelId":"m","Input":{"S3Uri":"s3://in/prompt.json"},"Output":{"S3Uri":"s3://out/a/b.json"}}`)
	if want := `{"Body":"s3://out/a/b.json","ContentType":"application/json"}`; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if model.heard != `{"prompt":"p"}` || !strings.Contains(objects["/out/a/b.json"], `{"completion":"c"}`) {
		t.Errorf("the model heard %s, S3 has %q", model.heard, objects)
	}
	for params, want := range map[string]string{
		`{"ModelId":"m","Input":{"S3Uri":"s3://in/none"}}`: "S3.NoSuchKeyException: no such key (Service: S3, Status Code: 404, ",
		`{"ModelId":"m","Input":{"S3Uri":"in/none"}}`: `States.Runtime: The Parameters '{"ModelId":"m","Input":{"S3Uri":"in/none"}}' could not be ` +
			`used to start the Task: [The value of the field 'S3Uri' has an invalid format]`,
	} {
		if _, err := invoke(c, "bedrock:invokeModel", params); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
