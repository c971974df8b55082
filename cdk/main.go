// Command cdk is the CDK app of the CSV import: one stack for each environment.
//
// Context (cdk deploy -c KEY=VALUE): bootstraps, the folder of the Lambda bootstraps (../dist/lambdas); emails and
// endpoints, comma-separated, who is to hear of imports and alarms beside those that the environment names; guide, the
// address that docs/operating.md is published at; accountConcurrency, how many invocations the account runs at a time
// in the region when that is not 1,000; databaseSecret, the ARN of the secret of an existing database in place of the
// environments' own. localSecret, the ARN of a database's secret at a local endpoint such as LocalStack, and
// localArchitecture (arm64 or x86_64) declare the environment local in place of the others.
package main

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/csvimportstack"
	"stepback/cdk/environment"
	"stepback/localstack"
)

func main() {
	app := awscdk.NewApp(nil)
	err := declare(app)
	if err == nil {
		app.Synth(nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // before the end of the JavaScript runtime, of which jsii may complain
	}
	jsii.Close()
	if err != nil {
		os.Exit(1)
	}
}

func declare(app awscdk.App) error {
	bootstraps := context(app, "bootstraps")
	if bootstraps == "" {
		bootstraps = "../dist/lambdas"
	}
	environments, local, rewrite := environment.All(), false, func(definition []byte) ([]byte,
		error) {
		return definition, nil
	}
	if secret := context(app, "localSecret"); secret != "" {
		environments, local, rewrite = []environment.Environment{environment.Local(secret,
			context(app, "localArchitecture"))}, true, localstack.Definition
	}
	limit, err := accountConcurrency(app)
	if err != nil {
		return err
	}
	for _, e := range environments {
		if limit > 0 {
			e = e.Within(limit)
		}
		e = e.Subscribed(list(context(app, "emails")), list(context(app, "endpoints")))
		e.Guide = cmp.Or(context(app, "guide"), e.Guide)
		if secret := context(app, "databaseSecret"); secret != "" {
			e.Database = environment.Database{SecretARN: secret}
		}
		if _, err := csvimportstack.New(app, csvimportstack.Props{Environment: e, BootstrapFolder: bootstraps,
			Rewrite: rewrite, DashboardApart: local}); err != nil {
			return err
		}
	}
	return nil
}

// context is the text of a context key, or empty.
func context(scope constructs.Construct, key string) string {
	text, _ := scope.Node().TryGetContext(jsii.String(key)).(string)
	return text
}

// accountConcurrency is 0 when the context does not tell.
func accountConcurrency(scope constructs.Construct) (int, error) {
	text := context(scope, "accountConcurrency")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 {
		return 0, fmt.Errorf("-c accountConcurrency=%s: want a whole number from 2, as aws lambda get-account-settings tells", text)
	}
	return n, nil
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
