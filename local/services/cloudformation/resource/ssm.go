package resource

import "context"

func parameters() []*Type {
	put := func(overwrite bool) func(context.Context, *Request) (State, error) {
		return func(ctx context.Context, r *Request) (State, error) {
			name := r.named("Name", 1011)
			in := pick(r.Properties, "Type Value Description AllowedPattern DataType Tier Policies")
			in["Name"], in["Overwrite"] = name, overwrite || r.Again
			if tags := r.tags(); len(tags) > 0 && !overwrite && !r.Again {
				in["Tags"] = tagList(tags, "Key", "Value")
			}
			state := State{ID: name, Attributes: map[string]any{"Type": r.text("Type"), "Value": r.text("Value")}}
			if err := r.Call(ctx, "ssm", "PutParameter", in, nil); err != nil || !overwrite {
				return created(state, err)
			}
			return state, r.retag(ctx, "ssm", "AddTagsToResource", "RemoveTagsFromResource",
				map[string]any{"ResourceType": "Parameter", "ResourceId": name}, "Tags", "TagKeys", asKeyValue)
		}
	}
	return []*Type{{
		Name:       "AWS::SSM::Parameter",
		Properties: properties("Name= Type* Value* Description AllowedPattern~ DataType! Tier Policies~ Tags"),
		Create:     put(false), Update: put(true),
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "ssm", "DeleteParameter", map[string]any{"Name": r.ID}, nil))
		},
		Read: func(ctx context.Context, r *Request) (map[string]any, error) {
			var out struct {
				Parameter struct{ Name, Type, Value, DataType string }
			}
			if err := r.Call(ctx, "ssm", "GetParameter", map[string]any{"Name": r.ID}, &out); err != nil {
				return nil, goneIfAbsent(err)
			}
			p := out.Parameter
			return map[string]any{"Name": p.Name, "Type": p.Type, "Value": p.Value, "DataType": p.DataType}, nil
		},
	}}
}
