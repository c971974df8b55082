package configuration

import "testing"

func TestParseLogGroup(t *testing.T) {
	t.Parallel()
	for arn, want := range map[string]string{
		"arn:aws:logs:us-east-1:123456789012:log-group:/a/b:*": "/a/b",
		"arn:aws:logs:us-east-1:123456789012:log-group:/a/b":   "",
		"arn:aws:logs:us-east-1:123456789012:log-group::*":     "",
		"arn:aws:s3:us-east-1:123456789012:log-group:/a/b:*":   "",
		"": "",
	} {
		scope, name, ok := ParseLogGroup(arn)
		if ok != (want != "") || ok && (name != want || scope.Region != "us-east-1" || scope.Account != "123456789012") {
			t.Errorf("%s: %v, %s, %t", arn, scope, name, ok)
		}
	}
}

func TestLoggingOf(t *testing.T) {
	t.Parallel()
	if l, err := LoggingOf(nil); err != nil || l.Level != LevelOff {
		t.Errorf("%+v, %v", l, err)
	}
	group := Destination{&LogGroup{"arn:aws:logs:us-east-1:123456789012:log-group:g:*"}}
	for name, c := range map[string]struct {
		given Logging
		ok    bool
	}{
		"no level":         {Logging{}, true},
		"a level":          {Logging{Level: "ALL", Destinations: []Destination{group}}, true},
		"no destination":   {Logging{Level: "ALL"}, false},
		"two destinations": {Logging{Destinations: []Destination{group, group}}, false},
		"no log group":     {Logging{Destinations: []Destination{{}}}, false},
	} {
		l, err := LoggingOf(&c.given)
		if (err == nil) != c.ok || l.Level == "" {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
}

func TestEncryptionOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given *Encryption
		want  Encryption
		ok    bool
	}{
		"none":                {nil, Encryption{Type: "AWS_OWNED_KEY"}, true},
		"default period":      {&Encryption{"CUSTOMER_MANAGED_KMS_KEY", "k", 0}, Encryption{"CUSTOMER_MANAGED_KMS_KEY", "k", 300}, true},
		"no key":              {&Encryption{"CUSTOMER_MANAGED_KMS_KEY", "", 0}, Encryption{"CUSTOMER_MANAGED_KMS_KEY", "", 0}, false},
		"a key that is AWS's": {&Encryption{"AWS_OWNED_KEY", "k", 0}, Encryption{"AWS_OWNED_KEY", "k", 0}, false},
	} {
		if got, err := EncryptionOf(c.given); got != c.want || (err == nil) != c.ok {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
