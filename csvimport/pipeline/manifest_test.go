package pipeline_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/csvimport/pipeline"
	"stepback/outbox/deadletters"
)

// TestAManifestInTheBucketIsNoFile: a manifest that is put into the bucket of the import on this machine starts
// nothing. Its event is a dead letter that says so, and that cannot be redriven to the state machine of single files.
func TestAManifestInTheBucketIsNoFile(t *testing.T) {
	t.Parallel()
	p := newTrial(t, "a.csv", plain(activities(10, 0))).open(t)
	defer closed(t, p)
	if err := p.Upload(t.Context(), "november.manifest", "a.csv\n"); err != nil {
		t.Fatal(err)
	}
	endpoint := p.Endpoint()
	letters, err := pipeline.Letters(t.Context(), aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("000000000000", "local", "")})
	if err != nil {
		t.Fatal(err)
	}
	page, err := letters.List(t.Context(), deadletters.Query{Limit: 10})
	if err != nil || len(page.Letters) != 1 {
		t.Fatalf("%+v, %v", page.Letters, err)
	}
	const why = "november.manifest is a manifest, and the import on this machine takes none from its bucket: " +
		"import its files with stepback run --files"
	if l := page.Letters[0]; l.Subject != "s3://csv-input/november.manifest" || l.Error != "InvalidInput" || l.Cause != why {
		t.Errorf("%+v", l)
	}
	err = letters.Redrive(t.Context(), page.Letters[0].ID, deadletters.By{Who: "ann"})
	if _, refused := errors.AsType[*deadletters.BadActError](err); !refused {
		t.Errorf("redriven: %v", err)
	}
}
