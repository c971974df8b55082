package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/cmd/stepback/exit"
	"stepback/docs"
	"stepback/engine/history"
	"stepback/internal/objectevent"
)

// filesAlarms are the six alarms of the state machine of many files, without the environment's prefix.
var filesAlarms = []string{
	"files-executions-failed", "files-executions-ended-badly", "files-executions-timed-out", "files-executions-aborted",
	"files-executions-throttled", "files-slow-executions",
}

// manyFiles tries the alarms of each environment's state machine of many files: a fault, its message or page, and the
// recovery. Meanwhile prod is deployed with a changed definition; the alarm rolls the deployment back, and its alias
// points at the version before. At the end, manifests are imported: by their
// upload, and by the commands that the guide prints for one whose import failed or was not started.
//
// Two alarms have no fault here, because the server throttles no state transition and a week does not pass: their
// states are set, as AWS recommends for tests of alarm actions. Their next evaluation ends that.
func (l *laptop) manyFiles(stages, stacks []string) {
	l.t.Helper()
	began := time.Now()
	live := l.aliasRoutes("stepback-prod")
	if len(live) != 1 {
		l.t.Fatalf("prod's alias of many files has the routes %v before the deployment", live)
	}
	l.settingsOfStage("prod", map[string]any{"timeoutHours": 23})
	deployed := l.deploying("stepback-prod")
	l.until(10*time.Minute, "the canary of many files has begun", func() bool { return len(l.aliasRoutes("stepback-prod")) == 2 })
	l.t.Logf("the canary has begun after %.0f s", time.Since(began).Seconds())

	asProcess(l.t, "chaos", "add", "s3:ListObjectsV2:custom=AccessDenied:1", "--data", l.data).ends(l.t, exit.OK)
	for _, stack := range stacks {
		x := l.startFiles(l.output(stack, "FilesStateMachineAliasArn"), "listing-fails")
		l.endsFiles(x, sfntypes.ExecutionStatusFailed, "AccessDenied")
	}
	asProcess(l.t, "chaos", "lift", "--all", "--data", l.data).ends(l.t, exit.OK)
	for _, name := range stages {
		l.alarmed(name, "files-executions-failed", "files-executions-ended-badly", "page-executions")
		l.until(2*time.Minute, name+"'s page is in the inbox", func() bool {
			return l.inbox(`ALARM: \"csv-import-` + name + `-page-executions\"`)
		})
	}
	l.t.Logf("all have paged after %.0f s", time.Since(began).Seconds())
	if out, status := deployed(); status != 1 || !strings.Contains(out, "csv-import-prod-files-executions-failed went off") {
		l.t.Errorf("the deployment with the canary ended with %d:\n%s", status, out)
	}
	if s := l.stackOf("stepback-prod"); s != "UPDATE_ROLLBACK_COMPLETE" {
		l.t.Errorf("prod is %s after the canary", s)
	}
	if routes := l.aliasRoutes("stepback-prod"); !slices.Equal(routes, live) {
		l.t.Errorf("the alias points at %v after the rollback, and before at %v", routes, live)
	}
	l.settingsOfStage("prod", nil)
	l.t.Logf("prod has been rolled back after %.0f s", time.Since(began).Seconds())

	asProcess(l.t, "chaos", "add", "s3:ListObjectsV2:latency:20s", "--data", l.data).ends(l.t, exit.OK)
	for i, stack := range stacks {
		stopped := l.startFiles(l.output(stack, "FilesStateMachineAliasArn"), "stopped")
		if _, err := sfn.NewFromConfig(l.config()).StopExecution(l.t.Context(),
			&sfn.StopExecutionInput{ExecutionArn: &stopped}); err != nil {
			l.t.Fatal(err)
		}
		l.endsFiles(stopped, sfntypes.ExecutionStatusAborted, "")
		restore := l.timeout(l.output(stack, "FilesStateMachineArn"))
		l.endsFiles(l.startFiles(l.output(stack, "FilesStateMachineArn"), "times-out"), sfntypes.ExecutionStatusTimedOut, "")
		restore()
		for _, alarm := range []string{"files-executions-throttled", "files-slow-executions"} {
			if _, err := cloudwatch.NewFromConfig(l.config()).SetAlarmState(l.t.Context(),
				&cloudwatch.SetAlarmStateInput{
					AlarmName: aws.String("csv-import-" + stages[i] + "-" + alarm), StateValue: cwtypes.StateValueAlarm,
					StateReason: aws.String("trial"),
				}); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	asProcess(l.t, "chaos", "lift", "--all", "--data", l.data).ends(l.t, exit.OK)
	for _, name := range stages {
		l.alarmed(name, "files-executions-timed-out", "files-executions-aborted")
		for _, alarm := range []string{"files-executions-aborted", "files-executions-throttled", "files-slow-executions"} {
			l.until(2*time.Minute, name+"'s message of "+alarm+" is in the inbox", func() bool {
				return l.inbox(`ALARM: \"csv-import-` + name + `-` + alarm + `\"`)
			})
		}
	}
	l.t.Logf("all messages have arrived after %.0f s", time.Since(began).Seconds())
	// CloudWatch looks two periods further back than an alarm's own, to make up for missing data.
	l.until(25*time.Minute, "all alarms of many files are OK again", func() bool {
		for _, name := range stages {
			if len(l.alarming(name, append(filesAlarms, "page-executions")...)) > 0 {
				return false
			}
		}
		return true
	})
	l.t.Logf("all are OK again after %.0f s", time.Since(began).Seconds())

	for _, stack := range stacks {
		bucket := l.output(stack, "InputBucketName")
		const key = "staged/11/ä b+c%20.csv"
		l.putText(bucket, key, "user_id,login_count,post_count\nmany-files,1,2\n")
		l.putText(bucket, "november.manifest", key+"\n")
		var imports []sfntypes.ExecutionListItem
		l.until(2*time.Minute, "the manifest has started an import in "+stack, func() bool {
			machine := l.output(stack, "FilesStateMachineArn")
			list, err := sfn.NewFromConfig(l.config()).ListExecutions(l.t.Context(),
				&sfn.ListExecutionsInput{StateMachineArn: &machine})
			if err != nil {
				l.t.Fatal(err)
			}
			imports = slices.DeleteFunc(list.Executions, func(x sfntypes.ExecutionListItem) bool {
				return !strings.HasPrefix(aws.ToString(x.Name), "november-manifest-")
			})
			return len(imports) == 1
		})
		l.endsFiles(*imports[0].ExecutionArn, sfntypes.ExecutionStatusSucceeded, "")
	}
	for i, name := range stages {
		l.runsDaily(name)
		l.redrivesManifest(name, stacks[i])
		l.startsAgain(stacks[i])
	}
	l.says(0, "There were no differences", append([]string{"diff", "--fail"}, stacks...)...)
	l.t.Logf("the trial of many files took %.0f s", time.Since(began).Seconds())
}

// runsDaily invokes the functions of the daily schedules, of which none falls into the trial, with their roles.
func (l *laptop) runsDaily(name string) {
	l.t.Helper()
	for _, function := range []string{"prune", "train"} {
		out := l.shell("aws lambda invoke --function-name csv-import-" + name + "-" + function + " /dev/stdout")
		if strings.Contains(out, "FunctionError") {
			l.t.Errorf("%s of %s: %s", function, name, out)
		}
	}
}

// redrivesManifest lets no rule start the import of a manifest, as an operator does who stops new files, and puts its
// event into the queue of undelivered events. The script redelivers it, and in dev the command redrives it.
func (l *laptop) redrivesManifest(name, stack string) {
	l.t.Helper()
	bucket, queue := l.output(stack, "InputBucketName"), l.output(stack, "UndeliveredEventsUrl")
	l.shell("aws events disable-rule --name csv-import-" + name + "-object-created")
	l.putText(bucket, "staged/12/a.csv", "user_id,login_count,post_count\nmany-files,1,2\n")
	etag := l.putText(bucket, "lists/december.manifest", "../staged/12/a.csv\n")
	event := objectevent.Event{Version: "0", ID: "1", DetailType: objectevent.DetailType, Source: objectevent.Source,
		Account: "000000000000", Region: "us-east-1", Time: time.Now(), Resources: []string{"arn:aws:s3:::" + bucket},
		Detail: objectevent.Detail{Bucket: objectevent.Bucket{Name: bucket},
			Object: objectevent.Object{Key: "lists/december.manifest", ETag: strings.Trim(etag, `"`)}}}
	text, err := json.Marshal(event)
	if err != nil {
		l.t.Fatal(err)
	}
	callSQS(l.t, "http://"+l.address, "SendMessage", map[string]any{"QueueUrl": queue, "MessageBody": string(text)}, nil)
	l.shell("aws events enable-rule --name csv-import-" + name + "-object-created")
	if name == "dev" {
		asProcess(l.t, "deadletters", "redrive", "--all", "--endpoint", "http://"+l.address, "--events-queue", queue,
			"--import-machine", l.output(stack, "StateMachineAliasArn"), "--files-machine", l.output(stack, "FilesStateMachineAliasArn"),
			"--record", "s3://"+l.output(stack, "ResultBucketName")).ends(l.t, exit.OK, "redriven")
	} else if out := l.shell("cdk/redeliver.sh " + name + " --yes"); !strings.Contains(out, "1 events redelivered") {
		l.t.Errorf("redeliver.sh prints %s", out)
	}
	l.endsFiles(history.ExecutionARN(l.output(stack, "FilesStateMachineArn"), event.ExecutionName()), sfntypes.ExecutionStatusSucceeded, "")
}

// startsAgain runs the command that the guide's section on files-executions-failed prints, for the import whose listing
// failed.
func (l *laptop) startsAgain(stack string) {
	l.t.Helper()
	_, section, _ := strings.Cut(docs.Operating, "\n### files-executions-failed\n")
	section, _, _ = strings.Cut(section, "\n### ")
	_, command, _ := strings.Cut(section, "```\n")
	command, _, ok := strings.Cut(command, "```")
	if !ok {
		l.t.Fatalf("the section has no command: %s", section)
	}
	alias, machine := l.output(stack, "FilesStateMachineAliasArn"), l.output(stack, "FilesStateMachineArn")
	command = strings.ReplaceAll(command, "FILES_ALIAS_ARN", alias)
	command = strings.ReplaceAll(command, "EXECUTION_ARN", history.ExecutionARN(machine, "listing-fails"))
	var started struct {
		ARN string `json:"executionArn"`
	}
	if out := l.shell(command); json.Unmarshal([]byte(out), &started) != nil || started.ARN == "" {
		l.t.Fatalf("%s\nprints %s", command, out)
	}
	l.endsFiles(started.ARN, sfntypes.ExecutionStatusSucceeded, "")
}

// shell runs a command in the repository's folder with the server as AWS, and returns what it printed. The first
// version of the AWS command line ignores AWS_ENDPOINT_URL for SQS, so a wrapper passes the address.
func (l *laptop) shell(command string) string {
	l.t.Helper()
	aws, err := exec.LookPath("aws")
	if err != nil {
		l.t.Skip("the trial needs the AWS command line: ", err)
	}
	wrappers := filepath.Join(l.work, "bin")
	if err := os.MkdirAll(wrappers, 0o700); err != nil {
		l.t.Fatal(err)
	}
	script := "#!/bin/sh\nexec '" + aws + "' --endpoint-url http://" + l.address + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(wrappers, "aws"), []byte(script), 0o700); err != nil {
		l.t.Fatal(err)
	}
	cmd := exec.CommandContext(l.t.Context(), "bash", "-c", command)
	cmd.Dir = l.root
	cmd.Env = append(os.Environ(), "PATH="+wrappers+string(os.PathListSeparator)+os.Getenv("PATH"), "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test",
		"AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true", "AWS_DEFAULT_OUTPUT=json")
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// settingsOfStage writes the settings of an environment as TestStages does, overridden by the given values.
func (l *laptop) settingsOfStage(name string, given map[string]any) {
	l.t.Helper()
	subscribers := map[string]any{"emails": []string{"you@" + name + ".example"}}
	// The account has room for the server's two or more processors, and for the reservation of the function metrics.
	all := map[string]any{"accountConcurrency": 110, "pages": subscribers, "notices": subscribers, "imports": subscribers}
	for key, value := range given {
		all[key] = value
	}
	l.settings(name, all)
}

// deploying deploys a stack in another process. The returned function waits for its end, and returns what it printed
// and its status.
func (l *laptop) deploying(stack string) func() (string, int) {
	l.t.Helper()
	// Other outputs than those of the first deployment, which the trial reads meanwhile.
	cmd := l.cdkCommand("deploy", stack, "--require-approval", "never")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	return func() (string, int) {
		err := cmd.Wait()
		if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
			l.t.Fatal(err)
		}
		return out.String(), cmd.ProcessState.ExitCode()
	}
}

// aliasRoutes returns the versions that the alias of a stack's state machine of many files points at.
func (l *laptop) aliasRoutes(stack string) (versions []string) {
	l.t.Helper()
	alias := l.output(stack, "FilesStateMachineAliasArn")
	a, err := sfn.NewFromConfig(l.config()).DescribeStateMachineAlias(l.t.Context(),
		&sfn.DescribeStateMachineAliasInput{StateMachineAliasArn: &alias})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range a.RoutingConfiguration {
		versions = append(versions, *r.StateMachineVersionArn)
	}
	return versions
}

// startFiles starts an import of the files under staged/ and returns its ARN.
func (l *laptop) startFiles(machine, name string) string {
	l.t.Helper()
	x, err := sfn.NewFromConfig(l.config()).StartExecution(l.t.Context(), &sfn.StartExecutionInput{
		StateMachineArn: &machine,
		Name:            &name, Input: aws.String(`{"prefix":"staged/"}`)})
	if err != nil {
		l.t.Fatal(err)
	}
	return *x.ExecutionArn
}

// endsFiles waits for the end of an execution and checks its status and error.
func (l *laptop) endsFiles(arn string, status sfntypes.ExecutionStatus, name string) {
	l.t.Helper()
	var x *sfn.DescribeExecutionOutput
	l.until(5*time.Minute, arn+" has ended", func() bool {
		var err error
		x, err = sfn.NewFromConfig(l.config()).DescribeExecution(l.t.Context(),
			&sfn.DescribeExecutionInput{ExecutionArn: &arn})
		if err != nil {
			l.t.Fatal(err)
		}
		return x.Status != sfntypes.ExecutionStatusRunning
	})
	if x.Status != status || name != "" && aws.ToString(x.Error) != name {
		l.t.Errorf("%s ended with %s %s: %s", arn, x.Status, aws.ToString(x.Error), aws.ToString(x.Cause))
	}
}

// timeout gives a state machine a timeout of a second; the returned function restores its definition.
func (l *laptop) timeout(machine string) (restore func()) {
	l.t.Helper()
	states := sfn.NewFromConfig(l.config())
	m, err := states.DescribeStateMachine(l.t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: &machine})
	if err != nil {
		l.t.Fatal(err)
	}
	update := func(definition string) {
		if _, err := states.UpdateStateMachine(l.t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: &machine,
			Definition: &definition}); err != nil {
			l.t.Fatal(err)
		}
	}
	short := strings.Replace(*m.Definition, `"TimeoutSeconds":1209600`, `"TimeoutSeconds":1`, 1)
	if short == *m.Definition {
		l.t.Fatalf("%s has no timeout of 14 days: %s", machine, short)
	}
	update(short)
	return func() { update(*m.Definition) }
}

// alarming returns those of an environment's alarms that are not OK.
func (l *laptop) alarming(environment string, alarms ...string) (names []string) {
	l.t.Helper()
	full := make([]string, len(alarms))
	for i, a := range alarms {
		full[i] = "csv-import-" + environment + "-" + a
	}
	out, err := cloudwatch.NewFromConfig(l.config()).DescribeAlarms(l.t.Context(), &cloudwatch.DescribeAlarmsInput{
		AlarmNames: full,
		AlarmTypes: []cwtypes.AlarmType{cwtypes.AlarmTypeMetricAlarm, cwtypes.AlarmTypeCompositeAlarm}})
	if err != nil {
		l.t.Fatal(err)
	}
	if n := len(out.MetricAlarms) + len(out.CompositeAlarms); n != len(alarms) {
		l.t.Fatalf("%d of %v exist", n, full)
	}
	for _, a := range out.MetricAlarms {
		if a.StateValue == cwtypes.StateValueAlarm {
			names = append(names, *a.AlarmName)
		}
	}
	for _, a := range out.CompositeAlarms {
		if a.StateValue == cwtypes.StateValueAlarm {
			names = append(names, *a.AlarmName)
		}
	}
	return names
}

// alarmed waits until each of an environment's alarms has been in ALARM.
func (l *laptop) alarmed(environment string, alarms ...string) {
	l.t.Helper()
	seen := map[string]bool{}
	l.until(10*time.Minute, environment+"'s alarms "+strings.Join(alarms, ", ")+" are in ALARM", func() bool {
		for _, name := range l.alarming(environment, alarms...) {
			seen[name] = true
		}
		return len(seen) == len(alarms)
	})
}

// putText puts an object and returns its ETag.
func (l *laptop) putText(bucket, key, text string) string {
	l.t.Helper()
	put, err := l.objects().PutObject(l.t.Context(),
		&s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(text)})
	if err != nil {
		l.t.Fatal(err)
	}
	return aws.ToString(put.ETag)
}
