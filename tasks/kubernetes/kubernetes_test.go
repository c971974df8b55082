package kubernetes_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/tasks/jobs"
	"stepback/tasks/kubernetes"
)

// cluster simulates a cluster: it responds to requests, by method and URL, with the given texts, and records the
// requests.
type cluster struct {
	answers map[string]string
	heard   []string
	tokens  []string
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	asked := r.Method + " " + r.URL.String()
	c.heard = append(c.heard, strings.TrimSpace(asked+" "+r.Header.Get("Content-Type")+" "+string(body)))
	c.tokens = append(c.tokens, r.Header.Get("Authorization"))
	text, ok := c.answers[asked]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		text = `{"kind":"Status","code":404}`
	}
	_, _ = io.WriteString(w, text)
}

// start serves a cluster and returns the task parameters that refer to it.
func start(t *testing.T, c *cluster) string {
	t.Helper()
	s := httptest.NewTLSServer(c)
	t.Cleanup(s.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return `"ClusterName":"c","Endpoint":"` + s.URL + `","CertificateAuthority":"` +
		base64.StdEncoding.EncodeToString(authority) + `"`
}

func api() *kubernetes.API {
	return &kubernetes.API{Token: func(_ context.Context, _, cluster string) (string, error) {
		return "token-of-" +
			cluster, nil
	}}
}

func TestCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params, heard, want, err string
		answers                  map[string]string
	}{
		"pods": {
			params:  `"Method":"GET","Path":"/api/v1/namespaces/default/pods","QueryParameters":{"labelSelector":["job-name=j"]}`,
			heard:   "GET /api/v1/namespaces/default/pods?labelSelector=job-name%3Dj",
			answers: map[string]string{"GET /api/v1/namespaces/default/pods?labelSelector=job-name%3Dj": `{"items":[]}`},
			want:    `{"ResponseBody":{"items":[]},"StatusCode":200,"StatusText":"OK"}`,
		},
		"a body": {
			params:  `"Method":"POST","Path":"/api/v1/x","RequestBody":{"kind":"ConfigMap"}`,
			answers: map[string]string{"POST /api/v1/x": "done"},
			heard:   `POST /api/v1/x application/json {"kind":"ConfigMap"}`,
			want:    `{"ResponseBody":"done","StatusCode":200,"StatusText":"OK"}`,
		},
		"a patch": {
			params:  `"Method":"PATCH","Path":"/x","RequestBody":[{"op":"remove"}]`,
			answers: map[string]string{"PATCH /x": "{}"},
			heard:   `PATCH /x application/json-patch+json [{"op":"remove"}]`,
			want:    `{"ResponseBody":{},"StatusCode":200,"StatusText":"OK"}`,
		},
		"a refusal": {
			params: `"Method":"DELETE","Path":"/none"`, heard: "DELETE /none",
			err: `EKS.404: {"ResponseBody":{"kind":"Status","code":404},"StatusCode":404,"StatusText":"Not Found"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &cluster{answers: c.answers}
			params := "{" + start(t, server) + "," + c.params + "}"
			result, err := kubernetes.Call{API: api()}.Invoke(t.Context(), &engine.Task{Parameters: params})
			switch {
			case c.err != "":
				if err == nil || err.Error() != c.err {
					t.Errorf("got %v, want %s", err, c.err)
				}
			case err != nil || result.Text() != c.want:
				t.Errorf("got %v, %v", result, err)
			}
			if len(server.heard) != 1 || server.heard[0] != c.heard || server.tokens[0] != "Bearer token-of-c" {
				t.Errorf("heard %q %q, want %s", server.heard, server.tokens, c.heard)
			}
		})
	}
}

func TestUnusableParameters(t *testing.T) {
	t.Parallel()
	const prefix = `States.Runtime: The Parameters '*' could not be used to start the Task: `
	for params, want := range map[string]string{
		`{}`: prefix + `[The field "ClusterName" is required but was missing, The field "CertificateAuthority" is required but was missing, ` +
			`The field "Endpoint" is required but was missing, The field "Method" is required but was missing, The field "Path" is required but was missing]`,
		`{"ClusterName":1,"CertificateAuthority":"x","Endpoint":"e","Method":"LOOK","Path":"/","QueryParameters":{"a":"b"},"Nonsense":1}`: prefix +
			`[The value for the field 'ClusterName' must be a STRING, The value of the field 'QueryParameters' has an invalid format, ` +
			`The value of the field 'Method' has an invalid format, The field "Nonsense" is not supported by Step Functions]`,
		`{"ClusterName":"c","CertificateAuthority":"x","Endpoint":"https://127.0.0.1:1","Method":"GET","Path":"/"}`://
		`EKS.SdkClientException: Unable to execute HTTP request: the CertificateAuthority is not a Base64 certificate`,
		`{"ClusterName":"c","CertificateAuthority":"x","Endpoint":"http://127.0.0.1:1","Method":"GET","Path":"/"}`://
		`EKS.SdkClientException: Unable to execute HTTP request: the Endpoint "http://127.0.0.1:1" is not an https URL`,
	} {
		_, err := kubernetes.Call{API: api()}.Invoke(t.Context(), &engine.Task{Parameters: params})
		if want := strings.Replace(want, "*", params, 1); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	_, err := kubernetes.Job{API: api()}.Invoke(t.Context(),
		&engine.Task{Parameters: `{"ClusterName":"c","CertificateAuthority":"x","Endpoint":"e"}`})
	if err == nil || !strings.HasSuffix(err.Error(), `[The field "Job" is required but was missing]`) {
		t.Errorf("got %v", err)
	}
}

// A server is not trusted under a name that its certificate does not contain.
func TestAnotherClusterIsNotTrusted(t *testing.T) {
	t.Parallel()
	params := "{" + strings.Replace(start(t, &cluster{}), "127.0.0.1", "localhost", 1) + `,"Method":"GET","Path":"/"}`
	_, err := kubernetes.Call{API: api()}.Invoke(t.Context(), &engine.Task{Parameters: params})
	if err == nil || !strings.HasPrefix(err.Error(), "EKS.SdkClientException: Unable to execute HTTP request: tls: ") {
		t.Errorf("got %v", err)
	}
}

const jobs1, pods1 = "/apis/batch/v1/namespaces/ns/jobs", "/api/v1/namespaces/ns/pods"

// TestJobWithLogs runs a job to its end and reads the logs of its pod; one of the logs is missing.
func TestJobWithLogs(t *testing.T) {
	t.Parallel()
	server := &cluster{answers: map[string]string{
		"POST " + jobs1:        `{"metadata":{"name":"pi"}}`,
		"GET " + jobs1 + "/pi": `{"metadata":{"name":"pi"},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`,
		"GET " + pods1 + "?labelSelector=job-name%3Dpi":      `{"items":[{"metadata":{"name":"pi-1"},"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"x"}]}}]}`,
		"GET " + pods1 + "/pi-1/log?container=a&tailLines=6": "{ \"pi\": 3.14 }\n",
		"GET " + pods1 + "/pi-1/log?container=b&tailLines=6": "not JSON\n",
	}}
	got, err := run(t, kubernetes.Job{API: api()}, "{"+start(t, server)+`,"Namespace":"ns","Job":{"kind":"Job"},`+
		`"LogOptions":{"RetrieveLogs":true,"LogParameters":{"tailLines":["6"]}}}`)
	want := `{"metadata":{"name":"pi"},"status":{"conditions":[{"type":"Complete","status":"True"}]},"logs":{"pods":{"pi-1":{"containers":{` +
		`"a":{"log":{"pi":3.14}},"b":{"log":"not JSON\n"},` +
		`"x":{"error":"EKS.404","cause":"{\"ResponseBody\":{\"kind\":\"Status\",\"code\":404},\"StatusCode\":404,\"StatusText\":\"Not Found\"}"}}}}}}`
	if err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if want := "POST " + jobs1 + ` application/json {"kind":"Job"}`; server.heard[0] != want {
		t.Errorf("submitted by %s, want %s", server.heard[0], want)
	}
}

func TestJobThatFails(t *testing.T) {
	t.Parallel()
	server := &cluster{answers: map[string]string{
		"POST " + jobs1:        `{"metadata":{"name":"pi"}}`,
		"GET " + jobs1 + "/pi": `{"status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]}}`,
	}}
	_, err := run(t, kubernetes.Job{API: api()}, "{"+start(t, server)+`,"Namespace":"ns","Job":"{}"}`)
	want := `States.TaskFailed: {"status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]}}`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestRawLogs(t *testing.T) {
	t.Parallel()
	server := &cluster{answers: map[string]string{
		"POST " + jobs1:        `{"metadata":{"name":"pi"}}`,
		"GET " + jobs1 + "/pi": `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`,
		"GET " + pods1 + "?labelSelector=job-name%3Dpi": `{"items":[{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}]}}]}`,
		"GET " + pods1 + "/p/log?container=a":           "1.0",
	}}
	got, err := run(t, kubernetes.Job{API: api()}, "{"+start(t, server)+
		`,"Namespace":"ns","Job":{},"LogOptions":{"RetrieveLogs":true,"RawLogs":true}}`)
	if err != nil || !strings.Contains(got, `{"log":"1.0"}`) {
		t.Errorf("got %s, %v", got, err)
	}
}

// run runs a job in virtual time and waits for it.
func run(t *testing.T, j kubernetes.Job, params string) (string, error) {
	t.Helper()
	c := clock.Virtual(time.Unix(0, 0))
	defer c.Close()
	c.Hold()
	defer c.Release()
	result, err := jobs.Wait("eks:runJob", j, c).Invoke(t.Context(), &engine.Task{Pattern: engine.Sync,
		Parameters: params})
	if err != nil {
		return "", err
	}
	return result.Text(), nil
}

// With an Endpoint, all requests go to that address, without a token.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	server := &cluster{answers: map[string]string{"DELETE /apis/batch/v1/namespaces/default/jobs/j?propagationPolicy=Background": `{}`, "GET /version": `{}`}}
	s := httptest.NewServer(server)
	defer s.Close()
	a := api()
	a.Endpoint = func() string { return s.URL }
	task := &engine.Task{Parameters: `{"ClusterName":"c","Endpoint":"https://cluster.invalid","CertificateAuthority":"x","Method":"GET","Path":"/version"}`}
	if _, err := (kubernetes.Call{API: a}).Invoke(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	params, err := (&engine.Task{Parameters: `{"ClusterName":"c","Endpoint":"e","CertificateAuthority":"x","Name":"j"}`}).Value()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (kubernetes.Job{API: a}).Call(t.Context(), "", "DeleteJob", params); err != nil {
		t.Fatal(err)
	}
	if len(server.tokens) != 2 || server.tokens[0]+server.tokens[1] != "" {
		t.Errorf("tokens %q went to the address", server.tokens)
	}
	a.Endpoint = func() string { return "nowhere" }
	_, err = kubernetes.Call{API: a}.Invoke(t.Context(), task)
	want := `EKS.SdkClientException: Unable to execute HTTP request: the endpoint of Kubernetes is "nowhere"; give a URL such as http://127.0.0.1:8001`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
