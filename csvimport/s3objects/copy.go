package s3objects

import (
	"context"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/csvimport"
)

// Copy implements csvimport.Objects. S3 compares the ETag and copies in one act (x-amz-copy-source-if-match), so that no
// other version can slip in between. Tags are left behind, since copying them would need rights of its own.
func (o *Objects) Copy(ctx context.Context, from csvimport.Source, to csvimport.Location, contentType string) error {
	from = from.Normal()
	out, err := o.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket:            aws.String(to.Bucket),
		Key:               aws.String(to.Key),
		CopySource:        aws.String(copySource(from)),
		CopySourceIfMatch: aws.String(`"` + from.ETag + `"`),
		ContentType:       aws.String(contentType),
		MetadataDirective: types.MetadataDirectiveReplace,
		TaggingDirective:  types.TaggingDirectiveReplace,
	})
	if err != nil {
		return failure("copy", from.String(), err)
	}
	if r := out.CopyObjectResult; r != nil && csvimport.UnquoteETag(aws.ToString(r.ETag)) == from.ETag {
		return nil
	}
	return o.stillThere(ctx, from)
}

// stillThere fails with CSVFileChanged where an object has another ETag by now. It is asked for a copy whose ETag does
// not vouch for its content, which is that of an object uploaded in parts or encrypted with a key of KMS, or of a server
// that ignores the condition.
func (o *Objects) stillThere(ctx context.Context, from csvimport.Source) error {
	out, err := o.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(from.Bucket), Key: aws.String(from.Key)})
	if err != nil {
		return failure("look at", from.String(), err)
	}
	if csvimport.UnquoteETag(aws.ToString(out.ETag)) != from.ETag {
		return changed(from.String())
	}
	return nil
}

// copySource is the header x-amz-copy-source: bucket and key, URL encoded but for the slashes. The SDK sends it as it
// is given.
func copySource(from csvimport.Source) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(from.Bucket + "/" + from.Key))
}
