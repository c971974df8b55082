package csvimportstack_test

import (
	"encoding/json"
	"fmt"
	"go/build"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stepback/cdk/environment"
	"stepback/retrymetrics"
)

// walked returns the environments whose templates are walked: the deployed ones, and variants with each optional part.
func walked() []environment.Environment {
	laptop := environment.Laptop("arm64")
	off := environment.Prod()
	off.Adapt = environment.AdaptOff
	source := environment.Prod()
	source.Adapt, source.RecordValue, source.SourceBreaker = environment.AdaptOn, 0.001, true
	source.Control = environment.Control{SourceRules: true, Capacity: 900, ConcurrencyLimit: 200, LoadHours: "Asia/Tokyo",
		DelayPerHour: 0.01}
	all := append(environment.All(), laptop, off, source, onlyFailures())
	for i := range all {
		ann := environment.Subscribers{Emails: []string{"ann@example.com"}}
		all[i].Pages, all[i].Notices, all[i].Imports = ann, ann, ann
	}
	return all
}

// statement is an IAM statement that allows something.
type statement struct {
	owner     string // logical ID of the policy
	actions   []string
	resources string
	condition string
}

func (x template) statements(t *testing.T) []statement {
	t.Helper()
	var all []statement
	for id, p := range x.ofType("AWS::IAM::Policy") {
		for _, raw := range p.Properties["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			s := raw.(map[string]any)
			if s["Effect"] != "Allow" {
				continue
			}
			one := statement{owner: id, resources: compact(t, s["Resource"]), condition: compact(t, s["Condition"])}
			for _, a := range each(s["Action"]) {
				one.actions = append(one.actions, a.(string))
			}
			all = append(all, one)
		}
	}
	return all
}

// allows reports whether a role may perform one of the actions on a resource of the template.
func allows(all []statement, id string, actions ...string) bool {
	return slices.ContainsFunc(all, func(s statement) bool {
		return strings.Contains(s.resources, `"`+id+`"`) &&
			slices.ContainsFunc(actions, func(a string) bool { return slices.Contains(s.actions, a) })
	})
}

// TestEverythingHasAWriterAndAReader walks the templates. Each table, queue, topic, log group, event, metric and
// environment variable is written by one part of the system and read by another.
func TestEverythingHasAWriterAndAReader(t *testing.T) {
	for i, e := range walked() {
		t.Run(fmt.Sprintf("%s %d", e.Name, i), func(t *testing.T) {
			x := synth(t, e)
			all := x.statements(t)
			for id := range x.ofType("AWS::DynamoDB::Table") {
				if !allows(all, id, "dynamodb:PutItem", "dynamodb:UpdateItem") || !allows(all, id, "dynamodb:GetItem") {
					t.Errorf("no role writes and reads the table %s", id)
				}
			}
			for id, q := range x.ofType("AWS::SQS::Queue") {
				name := q.Properties["QueueName"].(string)
				if !allows(all, id, "sqs:SendMessage") && !x.refers(t, "AWS::SNS::Subscription", id) {
					t.Errorf("nothing sends to the queue %s", id)
				}
				if !x.alarmed(t, "ApproximateNumberOfMessagesVisible", name) {
					t.Errorf("no alarm watches the queue %s", id)
				}
			}
			x.walkModel(t, e, all)
			x.walkTopics(t, all)
			x.walkEvents(t, all)
			x.walkMetrics(t, e)
			x.walkVariables(t)
		})
	}
}

// alarmed reports whether an alarm watches a metric with a dimension's value.
func (x template) alarmed(t *testing.T, metric, value string) bool {
	t.Helper()
	for _, a := range x.ofType("AWS::CloudWatch::Alarm") {
		if text := compact(t, a.Properties); strings.Contains(text, `"`+metric+`"`) && strings.Contains(text, `"`+value+`"`) {
			return true
		}
	}
	return false
}

// walkModel checks that, where there is a controller, one role writes the model of retry success, and each function
// that decides by it reads it. Scores are read from the dashboard everywhere (walkMetrics).
func (x template) walkModel(t *testing.T, e environment.Environment, all []statement) {
	t.Helper()
	writers, readers := 0, 0
	for _, s := range all {
		if !strings.Contains(s.resources, `/models/retries.json"`) {
			continue
		}
		switch {
		case slices.Equal(s.actions, []string{"s3:PutObject"}):
			writers++
		case slices.Equal(s.actions, []string{"s3:GetObject"}):
			readers++
		default:
			t.Errorf("%s may perform %q on the model", s.owner, s.actions)
		}
	}
	given := 0
	for _, f := range x.ofType("AWS::Lambda::Function") {
		if _, ok := variablesOf(f)["MODEL_OBJECT"]; ok {
			given++
		}
	}
	wantWriters, wantReaders := 0, 0
	if e.Adapt != environment.AdaptOff {
		wantWriters = 1
		if e.RecordValue > 0 {
			wantReaders = 3
		}
	}
	if writers != wantWriters || readers != wantReaders || given != wantWriters+wantReaders {
		t.Errorf("%d roles write the model and %d read it, and %d functions know its place; want %d, %d and %d", writers,
			readers, given, wantWriters, wantReaders, wantWriters+wantReaders)
	}
}

// walkTopics checks that something publishes to each topic, and that the subscribers of the settings are on it.
func (x template) walkTopics(t *testing.T, all []statement) {
	t.Helper()
	for id := range x.ofType("AWS::SNS::Topic") {
		if !x.refers(t, "AWS::CloudWatch::Alarm", id) && !x.refers(t, "AWS::CloudWatch::CompositeAlarm", id) &&
			!allows(all, id, "sns:Publish") {
			t.Errorf("nothing publishes to the topic %s", id)
		}
		if !x.refers(t, "AWS::SNS::Subscription", id) {
			t.Errorf("nothing subscribes to the topic %s", id)
		}
	}
}

// refers reports whether a resource of a type refers to another resource.
func (x template) refers(t *testing.T, kind, id string) bool {
	t.Helper()
	for _, r := range x.ofType(kind) {
		if strings.Contains(compact(t, r.Properties), `"`+id+`"`) {
			return true
		}
	}
	return false
}

// walkEvents checks that each source of events that a role may send has a rule, and that each source that a rule
// matches is sent: by a role, or by the input bucket.
func (x template) walkEvents(t *testing.T, all []statement) {
	t.Helper()
	sent := map[string]bool{}
	if len(x.ofType("AWS::CloudWatch::Alarm")) > 0 {
		sent["aws.cloudwatch"] = true
	}
	if b := x.only(t, "AWS::S3::Bucket", "InputBucket"); strings.Contains(compact(t, b.Properties), `"EventBridgeEnabled":true`) {
		sent["aws.s3"] = true
	}
	for _, s := range all {
		var c struct{ StringEquals map[string]any }
		if slices.Contains(s.actions, "events:PutEvents") && json.Unmarshal([]byte(s.condition), &c) == nil {
			for _, source := range each(c.StringEquals["events:source"]) {
				sent[source.(string)] = true
			}
		}
	}
	heard := map[string]bool{}
	for id, r := range x.ofType("AWS::Events::Rule") {
		pattern, ok := r.Properties["EventPattern"].(map[string]any)
		if !ok {
			continue // a schedule
		}
		for _, source := range each(pattern["source"]) {
			heard[source.(string)] = true
			if !sent[source.(string)] {
				t.Errorf("the rule %s waits for events of %s, which nothing sends", id, source)
			}
		}
		if len(each(r.Properties["Targets"])) == 0 {
			t.Errorf("the rule %s has no target", id)
		}
	}
	for source := range sent {
		if !heard[source] {
			t.Errorf("no rule matches the events of %s", source)
		}
	}
}

// walkMetrics checks that each metric that the stack publishes is in a widget or an alarm. TestEveryWidgetShows… and
// TestEveryAlarmWatches… check the opposite direction.
func (x template) walkMetrics(t *testing.T, e environment.Environment) {
	t.Helper()
	shown := text(t, x.only(t, "AWS::CloudWatch::Dashboard", "Dashboard").Properties["DashboardBody"])
	for _, a := range x.ofType("AWS::CloudWatch::Alarm") {
		shown += compact(t, a.Properties)
	}
	for _, m := range retrymetrics.Catalogue() {
		if m.At(retrymetrics.Level(e.LogLevel)) && !regexp.MustCompile(`[" =]`+m.Name()+`[\\" ]`).MatchString(shown) {
			t.Errorf("the metric %s is in no widget and no alarm", m.Name())
		}
	}
}

// program returns the folder of a function's program in the module stepback, or "" if the function is CDK's own.
func program(r resource) string {
	name, _ := r.Properties["FunctionName"].(string)
	if name == "" || r.Properties["Handler"] != "bootstrap" {
		return ""
	}
	return name[strings.LastIndexByte(name, '-')+1:]
}

// TestSchedulesAreTheEnvironments: the rules that invoke functions on a schedule are those whose cost the environment
// computes, with the memory of their functions.
func TestSchedulesAreTheEnvironments(t *testing.T) {
	for i, e := range walked() {
		var got, want []string
		x := synth(t, e)
		for _, r := range x.ofType("AWS::Events::Rule") {
			rate, ok := r.Properties["ScheduleExpression"].(string)
			if !ok {
				continue
			}
			target := r.Properties["Targets"].([]any)[0].(map[string]any)["Arn"].(map[string]any)["Fn::GetAtt"].([]any)[0].(string)
			f := x.Resources[target].Properties
			got = append(got, fmt.Sprint(r.Properties["Name"], " ", rate, " ", f["FunctionName"], " ", f["MemorySize"]))
		}
		for _, s := range e.Schedules() {
			rate := map[float64]string{1: "rate(1 minute)", 5: "rate(5 minutes)", 1440: "rate(1 day)"}[s.Minutes]
			want = append(want, fmt.Sprint(e.Prefix(), "-", s.Rule, " ", rate, " ", e.Prefix(), "-", s.Function, " ", s.MemoryMB))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s %d: the template has %q, the environment %q", e.Name, i, got, want)
		}
	}
}

// walkVariables checks that a function's program, or a package that it imports, reads each of its environment
// variables.
func (x template) walkVariables(t *testing.T) {
	t.Helper()
	for id, f := range x.ofType("AWS::Lambda::Function") {
		folder := program(f)
		if folder == "" {
			continue
		}
		known := namesIn(t, "stepback/lambdas/"+folder)
		for name := range variablesOf(f) {
			if !known[name] {
				t.Errorf("no package of the function %s reads %s", id, name)
			}
		}
	}
}

func variablesOf(f resource) map[string]any {
	environment, _ := f.Properties["Environment"].(map[string]any)
	variables, _ := environment["Variables"].(map[string]any)
	return variables
}

var (
	variableName = regexp.MustCompile(`"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|RULES|CAPACITY|SINK|BREAKER)"`)
	namesOf      = map[string]map[string]bool{} // by package, with all packages it imports
)

// namesIn returns the names of environment variables that the sources of a package of this module, and of those that
// it imports, contain as string literals.
func namesIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	if known := namesOf[path]; known != nil {
		return known
	}
	names := map[string]bool{}
	namesOf[path] = names
	dir := filepath.Join("../..", strings.TrimPrefix(path, "stepback/"))
	p, err := build.Default.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range p.GoFiles {
		source, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range variableName.FindAllSubmatch(source, -1) {
			names[string(found[1])] = true
		}
	}
	for _, imported := range p.Imports {
		if strings.HasPrefix(imported, "stepback/") {
			maps.Copy(names, namesIn(t, imported))
		}
	}
	return names
}

// unset says why no environment sets a name in the functions' sources.
var unset = map[string]string{
	"WEBHOOK_SECRETS": "the stack's VPC has no way out to a webhook; the variable is for a relay that is deployed on its own",
	"METRIC_DATA":     "for LocalStack, whose template is not among those that are walked; TestLocalIsRewritten finds it there",
	"CONTROL_MESSAGE": "not a variable: a kind of delivery of CloudWatch Logs",
}

// TestEveryVariableOfAProgramIsSet: some environment sets each variable that the functions' own programs read, except
// those that Lambda sets.
func TestEveryVariableOfAProgramIsSet(t *testing.T) {
	set := map[string]map[string]bool{}
	for _, e := range walked() {
		for _, f := range synth(t, e).ofType("AWS::Lambda::Function") {
			if folder := program(f); folder != "" {
				if set[folder] == nil {
					set[folder] = map[string]bool{}
				}
				for name := range variablesOf(f) {
					set[folder][name] = true
				}
			}
		}
	}
	sources, err := filepath.Glob("../../lambdas/*/*.go")
	if err != nil || len(set) != 10 {
		t.Fatal(err, len(set))
	}
	for _, file := range sources {
		folder := filepath.Base(filepath.Dir(file))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, found := range variableName.FindAllStringSubmatch(string(text), -1) {
			name := found[1]
			if !set[folder][name] && !strings.HasPrefix(name, "AWS_") && unset[name] == "" {
				t.Errorf("%s reads %s, which no environment sets", file, name)
			}
		}
	}
}

// settings maps each member of a settings file to a value that changes prod.
var settings = map[string]string{
	"account": `"123456789012"`, "region": `"eu-west-1"`, // compared with the credentials at deployment
	"accountConcurrency": `100`,
	"pages.emails":       `["ann@example.com"]`, "pages.endpoints": `["https://example.com/p"]`,
	"notices.emails": `["ann@example.com"]`, "notices.endpoints": `["https://example.com/n"]`,
	"imports.emails": `["ann@example.com"]`, "imports.endpoints": `["https://example.com/i"]`,
	"guide":                     `"https://example.com/guide"`,
	"database.secretArn":        `"arn:aws:secretsmanager:us-east-1:123456789012:secret:db-a1b2c3"`,
	"database.subnetIds":        `["subnet-0123456789abcdef0"]`,
	"database.securityGroupIds": `["sg-0123456789abcdef0"]`,
	"inputBucket":               `"in-bucket"`, "resultBucket": `"out-bucket"`, "accessLogBucket": `"logs-bucket"`,
	"maxFileBytes": `1073741824`, "timeoutHours": `48`, "importsPerDay": `24`,
	"owner": `"data"`, "costCenter": `"4711"`, "monthlyBudgetUSD": `500`, "recordValueUSD": `0.001`,
	"breaker": `"source"`, "adapt.mode": `"on"`, "adapt.rules": `"source"`, "adapt.capacity": `900`,
	"adapt.concurrencyLimit": `200`, "adapt.loadHours": `"Asia/Tokyo"`, "adapt.delayPerHourUSD": `0.01`,
}

// with lists the members that must be set for another one to be allowed.
var with = map[string][]string{
	"database.subnetIds":        {"database.secretArn", "database.securityGroupIds"},
	"database.securityGroupIds": {"database.secretArn", "database.subnetIds"},
	"adapt.concurrencyLimit":    {"adapt.rules"}, "adapt.loadHours": {"adapt.rules"},
	"adapt.delayPerHourUSD": {"recordValueUSD"},
}

// TestEverySettingHasAnEffect: each member of a settings file changes the template, or the environment's account and
// region.
func TestEverySettingHasAnEffect(t *testing.T) {
	var members []string
	var list func(prefix string, s reflect.Type)
	list = func(prefix string, s reflect.Type) {
		for f := range s.Fields() {
			name := prefix + f.Tag.Get("json")
			if f.Type.Kind() == reflect.Struct {
				list(name+".", f.Type)
				continue
			}
			members = append(members, name)
		}
	}
	list("", reflect.TypeFor[environment.Settings]())
	base := synth(t, environment.Prod().Set(environment.Settings{})).text
	for _, member := range members {
		value, ok := settings[member]
		if !ok {
			t.Errorf("the setting %s is not tested", member)
			continue
		}
		e := environment.Prod().Set(parsed(t, append(with[member], member)...))
		if member == "account" && e.Account == "123456789012" || member == "region" && e.Region == "eu-west-1" {
			continue
		}
		before := base
		if others := with[member]; len(others) > 0 && !strings.HasPrefix(member, "database.") {
			before = synth(t, environment.Prod().Set(parsed(t, others...))).text
		}
		if string(synth(t, e).text) == string(before) {
			t.Errorf("%s: %s changes nothing", member, value)
		}
	}
}

// parsed returns the settings of a file with members.
func parsed(t *testing.T, members ...string) environment.Settings {
	t.Helper()
	file := map[string]any{}
	for _, m := range members {
		into := file
		outer, inner, nested := strings.Cut(m, ".")
		if nested {
			if file[outer] == nil {
				file[outer] = map[string]any{}
			}
			into, outer = file[outer].(map[string]any), inner
		}
		into[outer] = json.RawMessage(settings[m])
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := environment.ReadSettings("prod.json", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
