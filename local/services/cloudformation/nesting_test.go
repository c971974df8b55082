package cloudformation_test

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/cloudformation"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/documents"
)

// selfNaming is a template whose only resource is a stack with this template.
const (
	selfNaming = `{"Resources":{"N":` + nestedSelf + `}}`
	nestedSelf = `{"Type":"AWS::CloudFormation::Stack","Properties":{"TemplateURL":"http://s3.localhost/bucket/self.json"}}`
)

// selfNamed returns a template for every object. Each read is reported to read, if it is not nil.
type selfNamed struct {
	noAPI
	template string
	read     func()
}

func (s selfNamed) Object(context.Context, string, string, string) ([]byte, error) {
	if s.read != nil {
		s.read()
	}
	return []byte(s.template), nil
}

// opened is a CloudFormation in a directory in memory, which can be opened again.
type opened struct {
	*cloudformation.Service
	store *documents.Store
}

func openStacks(t *testing.T, disk vfs.FS, c *clock.Clock, o cloudformation.Options, template string, read func()) opened {
	t.Helper()
	store, err := documents.Open("/documents", disk)
	if err != nil {
		t.Fatal(err)
	}
	o.Documents, o.Clock = store, c
	o.API = func(aws.Scope, resource.Identity) cloudformation.API {
		return selfNamed{template: template, read: read}
	}
	s, err := cloudformation.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Resume()
	return opened{s, store}
}

func (o opened) close(t *testing.T) {
	t.Helper()
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if err := o.store.Close(); err != nil {
		t.Error(err)
	}
}

var (
	stackIDs      = regexp.MustCompile(`<StackId>([^<]+)</StackId>`)
	stackStatuses = regexp.MustCompile(`<StackStatus>([^<]+)</StackStatus>`)
)

// create creates the stack s and returns its ID.
func (o opened) create(t *testing.T, template string) string {
	t.Helper()
	got := ask(t, o.Handler(), url.Values{"Action": {"CreateStack"}, "StackName": {"s"}, "TemplateBody": {template}})
	id := stackIDs.FindStringSubmatch(got)
	if id == nil {
		t.Fatal(got)
	}
	return id[1]
}

// status waits for the end of a stack's operation and returns the stack's status.
func (o opened) status(t *testing.T, id string) string {
	t.Helper()
	for {
		got := ask(t, o.Handler(), url.Values{"Action": {"DescribeStacks"}, "StackName": {id}})
		status := stackStatuses.FindStringSubmatch(got)
		if status == nil {
			t.Fatal(got)
		}
		if !strings.HasSuffix(status[1], "_IN_PROGRESS") || t.Context().Err() != nil {
			return status[1]
		}
	}
}

// left returns how many stacks are not deleted.
func (o opened) left(t *testing.T) int {
	t.Helper()
	n, token := 0, ""
	for {
		form := url.Values{"Action": {"ListStacks"}}
		if token != "" {
			form.Set("NextToken", token)
		}
		got := ask(t, o.Handler(), form)
		for _, m := range stackStatuses.FindAllStringSubmatch(got, -1) {
			if m[1] != "DELETE_COMPLETE" {
				n++
			}
		}
		next := regexp.MustCompile(`<NextToken>([^<]+)</NextToken>`).FindStringSubmatch(got)
		if next == nil {
			return n
		}
		token = next[1]
	}
}

// A stack whose template names itself fails at the limit, and everything that it has created is deleted.
func TestStackThatNamesItself(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options cloudformation.Options
		reason  string
	}{
		"nesting": {cloudformation.Options{Nesting: 3}, "would be nested in more than 3 stacks"},
		"stacks": {cloudformation.Options{Stacks: 5, Nesting: 100},
			"Limit for stack has been exceeded: account 000000000000 has 5 stacks in us-east-1"},
		"many times": {cloudformation.Options{Stacks: 20, Nesting: 100},
			"Limit for stack has been exceeded: account 000000000000 has 20 stacks in us-east-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clock.Real()
			defer c.Close()
			template := selfNaming
			if name == "many times" {
				template = strings.ReplaceAll(template, `"N":`, `"A":`+nestedSelf+`,"B":`+nestedSelf+`,"C":`+nestedSelf+`,"N":`)
			}
			s := openStacks(t, vfs.NewMem(), c, test.options, template, nil)
			defer s.close(t)
			id := s.create(t, template)
			if got := s.status(t, id); got != "ROLLBACK_COMPLETE" {
				t.Errorf("the stack is %s, want ROLLBACK_COMPLETE", got)
			}
			if got := s.left(t); got != 1 {
				t.Errorf("%d stacks are left, want the one that was created", got)
			}
			var events strings.Builder // of the innermost stack, too
			listed := ask(t, s.Handler(), url.Values{"Action": {"ListStacks"}})
			for _, m := range stackIDs.FindAllStringSubmatch(listed, -1) {
				events.WriteString(ask(t, s.Handler(), url.Values{"Action": {"DescribeStackEvents"}, "StackName": {m[1]}}))
			}
			if !strings.Contains(events.String(), test.reason) {
				t.Errorf("the reason %q is not in %s", test.reason, &events)
			}
		})
	}
}

// DeleteStack gives up the creation of a stack together with the stacks nested in it, also if the process ends in
// between.
func TestDeleteWhileNestedStacksAreCreated(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]struct{ before, after bool }{
		"running": {}, "restart before": {before: true}, "restart after": {after: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clock.Real()
			defer c.Close()
			disk := vfs.NewMem()
			deep, reads := make(chan struct{}), 0
			read := func() {
				if reads++; reads == 8 {
					close(deep)
				}
			}
			options := cloudformation.Options{Nesting: 1900}
			s := openStacks(t, disk, c, options, selfNaming, read)
			id := s.create(t, selfNaming)
			<-deep
			again := func() {
				s.close(t)
				s = openStacks(t, disk, c, options, selfNaming, nil)
			}
			if restart.before {
				again()
			}
			if got := ask(t, s.Handler(), url.Values{"Action": {"DeleteStack"}, "StackName": {"s"}}); !strings.Contains(got, "DeleteStackResponse") {
				t.Fatal(got)
			}
			if restart.after {
				again()
			}
			if got := s.status(t, id); got != "DELETE_COMPLETE" {
				t.Errorf("the stack is %s, want DELETE_COMPLETE", got)
			}
			if got := s.left(t); got != 0 {
				t.Errorf("%d stacks are left, want none", got)
			}
			s.close(t)
		})
	}
}
