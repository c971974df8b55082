// Command cdk is the CDK app of the CSV import: one stack for each environment, with the settings of
// environments/NAME.json.
//
// Context (cdk deploy -c KEY=VALUE): bootstraps, the folder of the Lambda bootstraps (../dist/lambdas); settings, another
// folder than environments; synthOnly=yes to have all environments, also those of other accounts than that of the
// credentials, which are left out otherwise, so that nothing can deploy them there.
// localSecret, the ARN of a database's secret at a local endpoint such as LocalStack, and localArchitecture (arm64 or
// x86_64) declare the environment local in place of the others. laptop, which is arm64 or x86_64, declares the
// environment laptop in their place: all of it, at `stepback serve`.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"stepback/adaptive/cost"
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
	environments, local, rewrite := environment.All(), false, func(definition []byte) ([]byte, error) {
		return definition, nil
	}
	if secret := context(app, "localSecret"); secret != "" {
		environments, local, rewrite = []environment.Environment{environment.Local(secret,
			context(app, "localArchitecture"))}, true, localstack.Definition
	}
	if architecture := context(app, "laptop"); architecture != "" {
		environments = []environment.Environment{environment.Laptop(architecture)}
	}
	settings := cmp.Or(context(app, "settings"), "environments")
	for _, e := range environments {
		if !local {
			file := filepath.Join(settings, e.Name+".json")
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			set, err := environment.ReadSettings(file, text)
			if err != nil {
				return err
			}
			e = e.Set(set)
			if context(app, "synthOnly") == "" {
				// The CDK command line tells by these whose credentials it has.
				if err := e.Belongs(os.Getenv("CDK_DEFAULT_ACCOUNT"), os.Getenv("CDK_DEFAULT_REGION")); err != nil {
					fmt.Fprintln(os.Stderr, err.Error()+": left out")
					continue
				}
			}
		}
		if _, err := csvimportstack.New(app, csvimportstack.Props{Environment: e, BootstrapFolder: bootstraps,
			Rewrite: rewrite, DashboardApart: local}); err != nil {
			return err
		}
		printCosts(os.Stderr, e)
	}
	return nil
}

// printCosts says what a million rows cost in an environment, by part, when 1 % of them fail once.
func printCosts(w io.Writer, e environment.Environment) {
	const rows, failing = 1_000_000, 0.01
	p := cost.DefaultPrices()
	items := e.Import(1, rows, failing).Items(p)
	fmt.Fprintf(w, "%s: %d rows cost %.2f USD, 1 %% of them retried (shape %s, batches of %d; prices of %s, %s):\n", e.Name, rows,
		cost.Total(items), e.Shape, e.BatchSize, p.Region, p.Date)
	for _, i := range items {
		fmt.Fprintf(w, "  %-36s %8.4f\n", i.Name, i.USD)
	}
}

// context is the text of a context key, or empty.
func context(scope constructs.Construct, key string) string {
	text, _ := scope.Node().TryGetContext(jsii.String(key)).(string)
	return text
}
