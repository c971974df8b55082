package retries

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/workspace"
	"stepback/dashboards/cloudwatch"
	"stepback/dashboards/render"
)

// endpointPage fetches a dashboard from an endpoint, with its data for the period since before now.
func endpointPage(ctx context.Context, endpoint, name string, since time.Duration) (render.Page, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return render.Page{}, exit.With(exit.Usage,
			fmt.Errorf("the endpoint %q is not a URL like http://localhost:5000", endpoint))
	}
	if since < time.Minute {
		return render.Page{}, exit.With(exit.Usage,
			fmt.Errorf("--since is %v; use at least 1m, the resolution of CloudWatch's metrics", since))
	}
	var options []func(*config.LoadOptions) error
	if workspace.OnThisMachine(u.Hostname()) {
		// A local endpoint must not receive the credentials of a real account.
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("test",
			"test", "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return render.Page{}, fmt.Errorf("the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	client := awscloudwatch.NewFromConfig(cfg, func(o *awscloudwatch.Options) { o.BaseEndpoint = aws.String(endpoint) })
	now := time.Now()
	return cloudwatch.Fetch(ctx, client, name, now.Add(-since), now)
}
