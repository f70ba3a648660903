// Command peers exercises a Kubernetes API server with client-go's dynamic client and dynamic informers: what other
// people's Go programs do. It prints what it did and ends with "all good".
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	gears       = schema.GroupVersionResource{Group: "go.kctl.test", Version: "v1", Resource: "gears"}
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
	fmt.Println("all good")
}

func run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	const ns = "go-peers"
	if _, err := client.Resource(namespaces).Create(ctx, object("v1", "Namespace", "", ns, nil), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace: %w", err)
	}
	steps := []struct {
		name string
		run  func() error
	}{
		{"discovery", func() error { return tryDiscovery(discovery.NewDiscoveryClientForConfigOrDie(config)) }},
		{"dynamic client", func() error { return tryClient(ctx, client, ns) }},
		{"custom resources", func() error { return tryCustomResources(ctx, client, ns) }},
		{"dynamic informer", func() error { return tryInformer(ctx, client, ns) }},
		{"paging", func() error { return tryPaging(ctx, client, ns) }},
	}
	for _, step := range steps {
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Println("ok", step.name)
	}
	return nil
}

func object(apiVersion, kind, ns, name string, fields map[string]any) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range fields {
		made.Object[key] = value
	}
	made.SetAPIVersion(apiVersion)
	made.SetKind(kind)
	made.SetNamespace(ns)
	made.SetName(name)
	return made
}

func tryDiscovery(client *discovery.DiscoveryClient) error {
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	for _, list := range lists {
		if list.GroupVersion != "apps/v1" {
			continue
		}
		for _, resource := range list.APIResources {
			if resource.Name == "deployments" && resource.Kind == "Deployment" && resource.Namespaced {
				return nil
			}
		}
	}
	return fmt.Errorf("deployments were not discovered")
}

func tryClient(ctx context.Context, client dynamic.Interface, ns string) error {
	api := client.Resource(configMaps).Namespace(ns)
	made, err := api.Create(ctx, object("v1", "ConfigMap", ns, "a", map[string]any{"data": map[string]any{"a": "1"}}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	stale := made.DeepCopy()
	if err := unstructured.SetNestedField(made.Object, "2", "data", "a"); err != nil {
		return err
	}
	if _, err := api.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err := api.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("a stale update: expected a conflict, got %v", err)
	}
	if _, err := api.Create(ctx, object("v1", "ConfigMap", ns, "a", nil), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("a second create: expected AlreadyExists, got %v", err)
	}
	patched, err := api.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"b":"3"}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if value, _, _ := unstructured.NestedString(patched.Object, "data", "b"); value != "3" {
		return fmt.Errorf("after the patch: %v", patched.Object["data"])
	}
	deployment := object("apps/v1", "Deployment", ns, "d", map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": "d"}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": "d"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
		},
	}})
	if _, err := client.Resource(deployments).Namespace(ns).Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
		return err
	}
	strategic := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"s"}]}}}}`)
	merged, err := client.Resource(deployments).Namespace(ns).Patch(ctx, "d", types.StrategicMergePatchType, strategic, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if containers, _, _ := unstructured.NestedSlice(merged.Object, "spec", "template", "spec", "containers"); len(containers) != 2 {
		return fmt.Errorf("after the strategic merge: %d containers", len(containers))
	}
	if scale, err := client.Resource(deployments).Namespace(ns).Get(ctx, "d", metav1.GetOptions{}, "scale"); err != nil || scale.GetKind() != "Scale" {
		return fmt.Errorf("scale: %v %v", scale, err)
	}
	if err := api.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if _, err := api.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("after the deletion: expected NotFound, got %v", err)
	}
	return nil
}

func tryCustomResources(ctx context.Context, client dynamic.Interface, ns string) error {
	definition := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "gears.go.kctl.test", map[string]any{"spec": map[string]any{
		"group": "go.kctl.test",
		"scope": "Namespaced",
		"names": map[string]any{"plural": "gears", "kind": "Gear"},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true,
			"subresources": map[string]any{"status": map[string]any{}},
			"schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object",
				"properties": map[string]any{
					"spec":   map[string]any{"type": "object", "properties": map[string]any{"teeth": map[string]any{"type": "integer", "minimum": int64(1), "default": int64(8)}}},
					"status": map[string]any{"type": "object", "properties": map[string]any{"turning": map[string]any{"type": "boolean"}}},
				},
			}},
		}},
	}})
	if _, err := client.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	api := client.Resource(gears).Namespace(ns)
	var made *unstructured.Unstructured
	err := eventually(ctx, func() (bool, error) {
		var err error
		made, err = api.Create(ctx, object("go.kctl.test/v1", "Gear", ns, "g", map[string]any{"spec": map[string]any{}}), metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	if teeth, _, _ := unstructured.NestedInt64(made.Object, "spec", "teeth"); teeth != 8 {
		return fmt.Errorf("the default of teeth: %v", made.Object["spec"])
	}
	if err := unstructured.SetNestedField(made.Object, true, "status", "turning"); err != nil {
		return err
	}
	if _, err := api.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	_, err = api.Patch(ctx, "g", types.MergePatchType, []byte(`{"spec":{"teeth":0}}`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.teeth") {
		return fmt.Errorf("an invalid patch: %v", err)
	}
	return nil
}

func tryInformer(ctx context.Context, client dynamic.Interface, ns string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	api := client.Resource(configMaps).Namespace(ns)
	if _, err := api.Create(ctx, object("v1", "ConfigMap", ns, "before", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, ns, nil)
	informer := factory.ForResource(configMaps).Informer()
	var lock sync.Mutex
	seen := map[string]bool{}
	note := func(verb string, value any) {
		if tombstone, ok := value.(cache.DeletedFinalStateUnknown); ok {
			value = tombstone.Obj
		}
		lock.Lock()
		defer lock.Unlock()
		seen[verb+" "+value.(*unstructured.Unstructured).GetName()] = true
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(value any) { note("add", value) },
		UpdateFunc: func(_, value any) { note("update", value) },
		DeleteFunc: func(value any) { note("delete", value) },
	}); err != nil {
		return err
	}
	other := factory.ForResource(gears).Informer()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, other.HasSynced) {
		return fmt.Errorf("the informers did not sync")
	}
	if len(other.GetStore().List()) != 1 {
		return fmt.Errorf("%d gears", len(other.GetStore().List()))
	}
	if _, err := api.Create(ctx, object("v1", "ConfigMap", ns, "later", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := api.Patch(ctx, "later", types.MergePatchType, []byte(`{"data":{"a":"1"}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	if err := api.Delete(ctx, "before", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func() (bool, error) {
		lock.Lock()
		defer lock.Unlock()
		return seen["add before"] && seen["add later"] && seen["update later"] && seen["delete before"] && len(informer.GetStore().List()) == 1, nil
	})
}

func tryPaging(ctx context.Context, client dynamic.Interface, ns string) error {
	api := client.Resource(configMaps).Namespace(ns)
	for index := range 7 {
		made := object("v1", "ConfigMap", ns, fmt.Sprintf("page-%d", index), nil)
		made.SetLabels(map[string]string{"page": "yes"})
		if _, err := api.Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	found := 0
	options := metav1.ListOptions{LabelSelector: "page=yes", Limit: 3}
	for {
		list, err := api.List(ctx, options)
		if err != nil {
			return err
		}
		found += len(list.Items)
		if options.Continue = list.GetContinue(); options.Continue == "" {
			break
		}
	}
	if found != 7 {
		return fmt.Errorf("%d objects on all pages", found)
	}
	return api.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "page=yes"})
}

// eventually asks again until done, an error, or the end of ctx.
func eventually(ctx context.Context, ask func() (bool, error)) error {
	for {
		if done, err := ask(); err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
