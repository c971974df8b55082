package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// endpoint simulates the two calls that are made, and records the input of StartExecution.
func endpoint(t *testing.T, lambda func(http.ResponseWriter), started *string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(r.URL.Path, "/functions/") {
			lambda(w)
			return
		}
		*started = string(body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{"executionArn":"arn:aws:states:us-east-1:000000000000:execution:m:x","startDate":1}`)
	}))
	t.Cleanup(s.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test",
		"AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE":       "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
}

func TestAnnounce(t *testing.T) {
	for _, c := range []struct {
		name         string
		lambda       func(http.ResponseWriter)
		out, notes   string
		startsItself bool
	}{
		{
			name:   "the function runs",
			lambda: func(w http.ResponseWriter) { fmt.Fprint(w, `{"execution":"users-csv-1","repeated":false}`) },
			out:    "users-csv-1 function\n",
		},
		{
			name:   "the file was imported before",
			lambda: func(w http.ResponseWriter) { fmt.Fprint(w, `{"execution":"users-csv-1","repeated":true}`) },
			out:    "users-csv-1 function\n",
			notes:  "this version of the file was already imported; no execution was started\n",
		},
		{
			name:   "a canned answer",
			lambda: func(w http.ResponseWriter) { fmt.Fprint(w, `"Simple Lambda happy path OK"`) },
			notes:  "the endpoint did not run the function start: it responded \"\\\"Simple Lambda happy path OK\\\"\"; running its handler in this process\n", startsItself: true,
		},
		{
			name: "a function error",
			lambda: func(w http.ResponseWriter) {
				w.Header().Set("X-Amz-Function-Error", "Unhandled")
				fmt.Fprint(w, `{"errorMessage":"no docker"}`)
			},
			notes:        "the function start failed: {\"errorMessage\":\"no docker\"}; running its handler in this process\n",
			startsItself: true,
		},
		{
			name:   "no functions",
			lambda: func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotImplemented) },
			notes:  "cannot invoke the function start", startsItself: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var started string
			endpoint(t, c.lambda, &started)
			var out, notes strings.Builder
			err := run(t.Context(), []string{
				"-bucket", "b", "-key", "uploads/users.csv", "-etag", "e", "-size", "3", "-function", "start",
				"-state-machine", "arn:aws:states:us-east-1:000000000000:stateMachine:m",
			}, &out, &notes)
			if err != nil {
				t.Fatal(err)
			}
			if c.out != "" && out.String() != c.out || !strings.HasPrefix(notes.String(), c.notes) {
				t.Errorf("printed %q and noted %q", out.String(), notes.String())
			}
			if c.startsItself != (started != "") {
				t.Errorf("StartExecution was asked %q", started)
			}
			if c.startsItself && !strings.Contains(started, `"name":"`+strings.TrimSuffix(out.String(), " here\n")+
				`"`) {
				t.Errorf("%q was started and %q printed", started, out.String())
			}
		})
	}
}

// TestAnnounceAManifest: at an endpoint that runs no functions, a manifest starts the state machine of many files.
func TestAnnounceAManifest(t *testing.T) {
	var started string
	endpoint(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotImplemented) }, &started)
	var out strings.Builder
	err := run(t.Context(), []string{
		"-bucket", "b", "-key", "november.manifest", "-etag", "e", "-size", "3", "-function", "start",
		"-state-machine", "arn:aws:states:us-east-1:000000000000:stateMachine:m",
		"-files-state-machine", "arn:aws:states:us-east-1:000000000000:stateMachine:m-files",
	}, &out, io.Discard)
	if err != nil || !strings.Contains(started, `"stateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:m-files"`) ||
		!strings.Contains(started, `{\"manifest\":\"november.manifest\",\"etag\":\"e\"}`) ||
		!strings.HasPrefix(out.String(), "november-manifest-") {
		t.Errorf("StartExecution was called with %s; printed %q, %v", started, out.String(), err)
	}
}

func TestAnnounceWantsAStateMachine(t *testing.T) {
	var started string
	endpoint(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, &started)
	err := run(t.Context(), []string{"-bucket", "b", "-key", "k", "-etag", "e", "-function", "start"}, io.Discard,
		io.Discard)
	if err == nil || !strings.Contains(err.Error(), "STATE_MACHINE_ARN is not set") {
		t.Errorf("got %v", err)
	}
}
