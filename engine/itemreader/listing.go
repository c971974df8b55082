package itemreader

import (
	"context"
	"io"
	"strings"

	"stepback/jsonvalue"
)

// pages iterates over a listing, with one page in memory at a time.
type pages struct {
	objects        Objects
	bucket, prefix string

	page  []ListedObject
	token string
	begun bool
}

func (p *pages) next(ctx context.Context) (ListedObject, error) {
	for len(p.page) == 0 {
		if p.begun && p.token == "" {
			return ListedObject{}, io.EOF
		}
		page, token, err := p.objects.List(ctx, p.bucket, p.prefix, p.token)
		if err != nil {
			return ListedObject{}, storeError(ctx, err)
		}
		p.page, p.token, p.begun = page, token, true
	}
	o := p.page[0]
	p.page = p.page[1:]
	return o, nil
}

// listingSource yields one item per listed object, its metadata. The "folders" created by the S3 console count as
// objects.
type listingSource struct {
	pages pages
	last  string // the key of the last item
}

func (l *listingSource) next(ctx context.Context) (Item, error) {
	o, err := l.pages.next(ctx)
	if err != nil {
		return Item{}, err
	}
	l.last = o.Key
	return Item{Value: o.item(), Source: "S3://" + l.pages.bucket}, nil
}

func (l *listingSource) skip(ctx context.Context) error {
	o, err := l.pages.next(ctx)
	if err == nil {
		l.last = o.Key
	}
	return err
}

func (l *listingSource) mark() string { return l.last }

func (l *listingSource) position() Position { return Position{Source: "S3://" + l.pages.bucket} }

func (l *listingSource) close() error { return nil }

// item returns the metadata as the real service does: members in alphabetical order, ETag spelled Etag, LastModified
// in epoch seconds as Java writes a double, 1.668699881E9.
func (o ListedObject) item() jsonvalue.Value {
	class := o.StorageClass
	if class == "" {
		class = "STANDARD"
	}
	b := jsonvalue.NewObject(5)
	b.Set("Etag", jsonvalue.OfString(o.ETag))
	b.Set("Key", jsonvalue.OfString(o.Key))
	b.Set("LastModified", jsonvalue.OfFloat(float64(o.LastModified.Unix())))
	b.Set("Size", jsonvalue.OfInt(o.Size))
	b.Set("StorageClass", jsonvalue.OfString(class))
	return b.Value()
}

// listedKeys yields the objects to load for LOAD_AND_FLATTEN. It omits the empty objects by which the S3 console
// marks folders, because they contain no items.
type listedKeys struct{ pages pages }

func (l *listedKeys) nextKey(ctx context.Context) (location, error) {
	for {
		o, err := l.pages.next(ctx)
		if err != nil {
			return location{}, err
		}
		if o.Size == 0 && strings.HasSuffix(o.Key, "/") {
			continue
		}
		return location{bucket: l.pages.bucket, key: o.Key}, nil
	}
}

func (l *listedKeys) close() error { return nil }
