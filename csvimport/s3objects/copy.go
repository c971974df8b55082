package s3objects

import (
	"context"

	"stepback/aws/objects"
	"stepback/csvimport"
)

// Copy implements csvimport.Objects. S3 compares the ETag and copies in one atomic operation
// (x-amz-copy-source-if-match), so that no other version can be copied. Tags are not copied, because that would
// need additional permissions.
func (o *Objects) Copy(ctx context.Context, from csvimport.Source, to csvimport.Location, contentType string) error {
	from = from.Normal()
	etag, err := o.client.Copy(ctx, objects.Copy{
		FromBucket: from.Bucket, FromKey: from.Key, IfMatch: `"` + from.ETag + `"`, Bucket: to.Bucket, Key: to.Key,
		ContentType: contentType, WithoutTags: true,
	})
	if err != nil {
		return failure("copy", from.String(), err)
	}
	if csvimport.UnquoteETag(etag) == from.ETag {
		return nil
	}
	return o.checkUnchanged(ctx, from)
}

// checkUnchanged fails with CSVFileChanged if the object's ETag has changed. It is called after a copy whose ETag
// differs from the source's. The content may still be the same, because the ETag of an object that was uploaded in
// parts or encrypted with a KMS key does not identify its content. Or the server ignored the condition.
func (o *Objects) checkUnchanged(ctx context.Context, from csvimport.Source) error {
	out, err := o.client.Head(ctx, objects.Get{Bucket: from.Bucket, Key: from.Key})
	if err != nil {
		return failure("look at", from.String(), err)
	}
	if csvimport.UnquoteETag(out.ETag) != from.ETag {
		return changed(from.String())
	}
	return nil
}
