package workspace

import (
	"context"
	"errors"

	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"stepback/aws/client"
	"stepback/aws/loopback"
	"stepback/dashboards/cloudwatch"
	"stepback/local"
)

// CloudWatch calls do with the CloudWatch that the flags select: of AWS, of an endpoint, of the process that serves the
// data directory, or of a data directory that no process serves.
func (w *Where) CloudWatch(ctx context.Context, do func(*cloudwatch.Source) error) (err error) {
	if err := w.Check(); err != nil {
		return err
	}
	cfg, _, err := w.Config(ctx)
	if err != nil {
		return err
	}
	if cfg == nil { // no process serves the directory
		api, closing, err := local.ReadCloudWatch(w.Data, w.Scope())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closing()) }()
		cfg = w.Signed(loopback.URL)
		cfg.HTTPClient = loopback.Client(api)
		return do(&cloudwatch.Source{Client: cloudwatch.ClientOf(awscloudwatch.NewFromConfig(*cfg))})
	}
	return do(&cloudwatch.Source{
		Client: cloudwatch.ClientOf(awscloudwatch.NewFromConfig(*cfg)),
		LogsOf: func(region string) (cloudwatch.Logs, error) {
			of := cfg.Copy()
			if region != "" {
				of.Region = region
			}
			return client.NewNamed(ctx, of, "logs")
		},
	})
}
