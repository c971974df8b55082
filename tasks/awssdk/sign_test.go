package awssdk_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

// TestClusterToken checks what an EKS cluster checks: the service that is called, the cluster's name, and that the
// name is signed.
func TestClusterToken(t *testing.T) {
	t.Parallel()
	token, err := caller("none", &fake{}).ClusterToken(t.Context(), "https://127.0.0.1:6443", "c")
	if err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutPrefix(token, "k8s-aws-v1.")
	b, err := base64.RawURLEncoding.DecodeString(text)
	if !ok || err != nil {
		t.Fatalf("got %s, %v", token, err)
	}
	u, err := url.Parse(string(b))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Host != "sts.eu-west-1.amazonaws.com" || q.Get("Action") != "GetCallerIdentity" ||
		q.Get("X-Amz-SignedHeaders") != "host;x-k8s-aws-id" ||
		q.Get("X-Amz-Expires") != "60" || q.Get("X-Amz-Signature") == "" {
		t.Errorf("got %s", u)
	}
}
