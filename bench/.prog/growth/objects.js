// A custom resource of about 600 bytes: a million of them have to fit beside their server.
                                      
import { group, kindName, objectsPerKind, objectsPerNode } from './size.js';

/** The text of an object; `sent` is when the event with it was sent, in ns. */
export function objectText(size      , { kind, object, version, sent }               )         {
  const perKind = objectsPerKind(size);
  const namespace = Math.floor((object * size.namespaces) / perKind);
  const node = Math.floor(object / objectsPerNode);
  const id = object.toString(16).padStart(12, '0');
  const kindId = kind.toString(16).padStart(4, '0');
  return (
    `{"apiVersion":"${group}/v1","kind":"${kindName(kind)}","metadata":{"creationTimestamp":"2026-03-14T09:26:53Z",` +
    `"generation":1,"labels":{"app":"app-${object % 1000}"${sent === undefined ? '' : `,"sent":"${sent}"`}},` +
    `"name":"thing-${id}","namespace":"team-${String(namespace).padStart(5, '0')}","resourceVersion":"${version}",` +
    `"uid":"0b5e55ed-${kindId}-4000-8000-${id}"},"spec":{"image":"registry.example.com/shop/thing:1.42.${object % 10}",` +
    `"node":"node-${String(node).padStart(6, '0')}","replicas":${object % 7},"resources":{"cpu":"100m","memory":"128Mi"}},` +
    `"status":{"conditions":[{"lastTransitionTime":"2026-03-14T09:26:53Z","message":"","reason":"AsExpected",` +
    `"status":"True","type":"Ready"}],"observedGeneration":1,"restarts":${version % 7}}}`
  );
}

                                
                        
                          
                           
                         
 
