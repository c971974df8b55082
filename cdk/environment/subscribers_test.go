package environment_test

import (
	"slices"
	"testing"

	"stepback/cdk/environment"
)

func TestNobodyIsSubscribedTwice(t *testing.T) {
	t.Parallel()
	e := environment.Dev()
	e.Emails = []string{"ops@example.com"}
	e = e.Subscribed([]string{"ann@example.com", "ops@example.com", "ann@example.com"},
		[]string{"https://example.com/a", "https://example.com/a"})
	if want := []string{"ops@example.com", "ann@example.com"}; !slices.Equal(e.Emails, want) {
		t.Errorf("e-mail addresses %q, want %q", e.Emails, want)
	}
	if want := []string{"https://example.com/a"}; !slices.Equal(e.Endpoints, want) {
		t.Errorf("endpoints %q, want %q", e.Endpoints, want)
	}
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
}
