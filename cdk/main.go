// Command cdk is the CDK app of the CSV import: one stack for each environment, with the settings of
// environments/NAME.json.
//
// Context keys (cdk deploy -c KEY=VALUE):
//
//   - bootstraps is the folder of the Lambda bootstraps (../dist/lambdas).
//   - settings is the folder of the settings, in place of environments.
//   - synthOnly=yes includes all environments. Otherwise, environments of accounts other than the credentials' are
//     omitted, so that they cannot be deployed there by mistake.
//   - localSecret and localArchitecture declare only the environment local. localSecret is the ARN of a database's
//     secret at a local endpoint such as LocalStack; localArchitecture is arm64 or x86_64.
//   - laptop, which is arm64 or x86_64, declares only the environment laptop, completely, for `stepback serve`.
//   - stages=yes, with laptop, declares dev, stg and prod for `stepback serve` instead, with their databases replaced.
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
	"stepback/adaptive/worth"
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
		fmt.Fprintln(os.Stderr, err) // before the JavaScript runtime ends, about which jsii may complain
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
	architecture := context(app, "laptop")
	if architecture != "" && context(app, "stages") == "" {
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
			if architecture != "" {
				e = e.OnLaptop(architecture)
			}
			if context(app, "synthOnly") == "" {
				// The CDK command line sets these to the account and region of its credentials.
				if err := e.Belongs(os.Getenv("CDK_DEFAULT_ACCOUNT"), os.Getenv("CDK_DEFAULT_REGION")); err != nil {
					fmt.Fprintln(os.Stderr, err.Error()+"; its stack is left out")
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

// printCosts prints the cost of a million rows in an environment, by part, if 1 % of them fail once.
func printCosts(w io.Writer, e environment.Environment) {
	const rows, failing = 1_000_000, 0.01
	p := cost.DefaultPrices(cmp.Or(worth.Architecture(e.Architecture), worth.Arm))
	items := e.Import(1, rows, failing).Items(p)
	fmt.Fprintf(w, "%s: %d rows cost %.2f USD if 1 %% of them are retried once (shape %s, batches of %d; prices of %s, %s):\n", e.Name, rows,
		cost.Total(items), e.Shape, e.BatchSize, p.Region, p.Date)
	for _, i := range items {
		fmt.Fprintf(w, "  %-36s %8.4f\n", i.Name, i.USD)
	}
}

// context returns the value of a context key, or "".
func context(scope constructs.Construct, key string) string {
	text, _ := scope.Node().TryGetContext(jsii.String(key)).(string)
	return text
}
