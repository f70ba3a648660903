package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// typeExpr is the type of a field, a list's items or a map's values. Exactly one of the last four is set.
type typeExpr struct {
	// Pointer tells a pointer from a value.
	Pointer bool `json:"pointer,omitempty"`
	// Scalar is string, bool, int32, int64, float64, bytes, … or any.
	Scalar string `json:"scalar,omitempty"`
	// Ref names another type as package path and name.
	Ref  string    `json:"ref,omitempty"`
	List *typeExpr `json:"list,omitempty"`
	// Map is the type of a map's values; its keys are strings in JSON.
	Map *typeExpr `json:"map,omitempty"`
}

type fieldFacts struct {
	Go        string   `json:"go"`
	JSON      string   `json:"json,omitempty"`
	Inline    bool     `json:"inline,omitempty"`
	Type      typeExpr `json:"type"`
	OmitEmpty bool     `json:"omitempty,omitempty"`
	OmitZero  bool     `json:"omitzero,omitempty"`
	Optional  bool     `json:"optional,omitempty"`
	// Required is what a marker says, whatever the tag does.
	Required      bool     `json:"required,omitempty"`
	PatchStrategy []string `json:"patchStrategy,omitempty"`
	PatchMergeKey string   `json:"patchMergeKey,omitempty"`
	ListType      string   `json:"listType,omitempty"`
	ListMapKeys   []string `json:"listMapKeys,omitempty"`
	MapType       string   `json:"mapType,omitempty"`
	StructType    string   `json:"structType,omitempty"`
	// Validations are controller-gen's markers: `MaxLength=316`.
	// Immutable says that the value cannot change once it is set.
	Immutable    bool     `json:"immutable,omitempty"`
	Validations  []string `json:"validations,omitempty"`
	Default      string   `json:"default,omitempty"`
	Protobuf     int      `json:"protobuf,omitempty"`
	ProtobufWire string   `json:"protobufWire,omitempty"`
	Doc          string   `json:"doc,omitempty"`
}

type typeFacts struct {
	// Type is set where the type is not a struct.
	Type *typeExpr `json:"type,omitempty"`
	// ProtobufMessage says that a named list is a message of its own in protobuf, with the items as field 1.
	ProtobufMessage bool `json:"protobufMessage,omitempty"`
	// CustomJSON says that the Go type marshals itself: fields do not describe its JSON.
	CustomJSON bool `json:"customJSON,omitempty"`
	// Values are the constants of a string type, in the order of the source.
	Values []string `json:"values,omitempty"`
	// StructType is server-side apply's: the fields of an atomic struct have one owner.
	StructType string       `json:"structType,omitempty"`
	Doc        string       `json:"doc,omitempty"`
	Fields     []fieldFacts `json:"fields,omitempty"`

	name    string
	markers []string
}

type pkg struct {
	path    string
	group   string
	version string
	// isGroupVersion tells an API package (it has a GroupName) from a library.
	isGroupVersion bool
	names          []string
	types          map[string]*typeFacts
}

// loader parses packages and remembers which others they refer to.
type loader struct {
	modules    map[string]module
	packages   map[string]*pkg
	referenced map[string]bool
}

func newLoader(modules map[string]module) *loader {
	return &loader{modules: modules, packages: map[string]*pkg{}, referenced: map[string]bool{}}
}

// loadReferenced loads the packages of known modules that loaded packages refer to, until there are no more.
func (l *loader) loadReferenced() error {
	for {
		var missing []string
		for path := range l.referenced {
			if l.packages[path] == nil && l.directory(path) != "" {
				missing = append(missing, path)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		for _, path := range missing {
			if err := l.load(path); err != nil {
				return err
			}
		}
	}
}

func (l *loader) directory(path string) string {
	for name, m := range l.modules {
		if rest, ok := strings.CutPrefix(path, name+"/"); ok {
			return filepath.Join(m.Dir, filepath.FromSlash(rest))
		}
	}
	return ""
}

func (l *loader) load(path string) error {
	directory := l.directory(path)
	if directory == "" {
		return fmt.Errorf("%s belongs to no module in go.mod", path)
	}
	isSource := func(info fs.FileInfo) bool {
		name := info.Name()
		return !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "zz_generated") &&
			name != "generated.pb.go" && !strings.HasSuffix(name, "_swagger_doc_generated.go")
	}
	names, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		return err
	}
	sort.Strings(names)
	p := &pkg{path: path, version: filepath.Base(path), types: map[string]*typeFacts{}}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		info, err := fileInfo(name)
		if err != nil {
			return err
		}
		if !isSource(info) {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	for _, file := range files {
		l.readTypes(p, file)
	}
	for _, file := range files {
		readMethodsAndConstants(p, file)
	}
	l.packages[path] = p
	return nil
}

func (l *loader) readTypes(p *pkg, file *ast.File) {
	imports := importNames(file)
	comments := lineComments{file}
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		for _, spec := range general.Specs {
			declared := spec.(*ast.TypeSpec)
			if !declared.Name.IsExported() || declared.TypeParams != nil {
				continue
			}
			group := declared.Doc
			if group == nil {
				group = general.Doc
			}
			start := declared.Pos()
			if general.Lparen == token.NoPos {
				start = general.Pos()
			}
			doc, markers := splitComment(group)
			markers = append(comments.detachedMarkers(group, start), markers...)
			facts := &typeFacts{name: declared.Name.Name, Doc: doc, markers: markers}
			for _, marker := range markers {
				if value, found := strings.CutPrefix(marker, "structType="); found {
					facts.StructType = value
				}
			}
			switch t := declared.Type.(type) {
			case *ast.StructType:
				facts.Fields = l.readFields(p, imports, t)
			case *ast.InterfaceType, *ast.FuncType, *ast.ChanType:
				continue
			default:
				expression := l.typeOf(p, imports, declared.Type)
				facts.Type = &expression
				facts.ProtobufMessage = expression.List != nil && slices.Contains(markers, "protobuf.nullable=true")
			}
			p.types[facts.name] = facts
			p.names = append(p.names, facts.name)
		}
	}
}

func (l *loader) readFields(p *pkg, imports map[string]string, structure *ast.StructType) []fieldFacts {
	fields := []fieldFacts{}
	for _, field := range structure.Fields.List {
		if field.Tag == nil {
			continue
		}
		text, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			continue
		}
		tag := reflect.StructTag(text)
		parts := strings.Split(tag.Get("json"), ",")
		if parts[0] == "-" {
			continue
		}
		facts := fieldFacts{JSON: parts[0], Type: l.typeOf(p, imports, field.Type)}
		if len(field.Names) > 0 {
			facts.Go = field.Names[0].Name
		} else {
			facts.Go = embeddedName(field.Type)
		}
		for _, option := range parts[1:] {
			switch option {
			case "inline":
				facts.Inline = true
			case "omitempty":
				facts.OmitEmpty = true
			case "omitzero":
				facts.OmitZero = true
			}
		}
		if facts.JSON == "" && len(field.Names) == 0 {
			facts.Inline = true
		}
		if strategy := tag.Get("patchStrategy"); strategy != "" {
			facts.PatchStrategy = strings.Split(strategy, ",")
		}
		facts.PatchMergeKey = tag.Get("patchMergeKey")
		if wire := strings.Split(tag.Get("protobuf"), ","); len(wire) > 1 {
			facts.ProtobufWire = wire[0]
			facts.Protobuf, _ = strconv.Atoi(wire[1])
		}
		doc, markers := splitComment(field.Doc)
		facts.Doc = doc
		facts.Optional = facts.OmitEmpty || facts.OmitZero
		isOptional := slices.Contains(markers, "optional") || slices.Contains(markers, "k8s:optional")
		for _, marker := range markers {
			key, value, _ := strings.Cut(marker, "=")
			switch key {
			case "optional", "k8s:optional":
				facts.Optional = true
			case "required", "k8s:required":
				facts.Required = !isOptional
				if key == "k8s:required" {
					facts.Validations = append(facts.Validations, "NotEmpty")
				}
			case "k8s:immutable":
				facts.Immutable = true
			case "k8s:maxItems", "k8s:minimum", "k8s:maximum":
				name := strings.TrimPrefix(key, "k8s:")
				facts.Validations = append(facts.Validations, strings.ToUpper(name[:1])+name[1:]+"="+value)
			case "listType":
				facts.ListType = value
			case "listMapKey":
				facts.ListMapKeys = append(facts.ListMapKeys, value)
			case "mapType":
				facts.MapType = value
			case "structType":
				facts.StructType = value
			case "default":
				facts.Default = value
			}
			if rule, found := strings.CutPrefix(marker, "kubebuilder:validation:"); found {
				facts.Validations = append(facts.Validations, rule)
			}
		}
		fields = append(fields, facts)
	}
	return fields
}

func (l *loader) typeOf(p *pkg, imports map[string]string, expression ast.Expr) typeExpr {
	switch t := expression.(type) {
	case *ast.StarExpr:
		inner := l.typeOf(p, imports, t.X)
		inner.Pointer = true
		return inner
	case *ast.ArrayType:
		if item, ok := t.Elt.(*ast.Ident); ok && item.Name == "byte" {
			return typeExpr{Scalar: "bytes"}
		}
		item := l.typeOf(p, imports, t.Elt)
		return typeExpr{List: &item}
	case *ast.MapType:
		value := l.typeOf(p, imports, t.Value)
		return typeExpr{Map: &value}
	case *ast.SelectorExpr:
		path := imports[t.X.(*ast.Ident).Name]
		l.referenced[path] = true
		return typeExpr{Ref: path + "." + t.Sel.Name}
	case *ast.Ident:
		if t.IsExported() {
			return typeExpr{Ref: p.path + "." + t.Name}
		}
		return typeExpr{Scalar: t.Name}
	default:
		return typeExpr{Scalar: "any"}
	}
}

// readMethodsAndConstants notes which types marshal themselves, the values of string types, and the group's name.
func readMethodsAndConstants(p *pkg, file *ast.File) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || d.Name.Name != "MarshalJSON" {
				continue
			}
			if facts := p.types[embeddedName(d.Recv.List[0].Type)]; facts != nil {
				facts.CustomJSON = true
			}
		case *ast.GenDecl:
			if d.Tok != token.CONST {
				continue
			}
			for _, spec := range d.Specs {
				readConstant(p, spec.(*ast.ValueSpec))
			}
		}
	}
}

func readConstant(p *pkg, constant *ast.ValueSpec) {
	if len(constant.Values) != 1 || len(constant.Names) != 1 {
		return
	}
	literal, ok := constant.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	if constant.Names[0].Name == "GroupName" {
		p.group, p.isGroupVersion = value, true
	}
	if named, ok := constant.Type.(*ast.Ident); ok && p.types[named.Name] != nil {
		facts := p.types[named.Name]
		facts.Values = append(facts.Values, value)
	}
}

func embeddedName(expression ast.Expr) string {
	switch t := expression.(type) {
	case *ast.StarExpr:
		return embeddedName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	default:
		return ""
	}
}

func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := filepath.Base(path)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	return names
}
