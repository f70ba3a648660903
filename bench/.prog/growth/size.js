// What a point of a curve consists of, and what is the same for all: both the server and the client count on it.

/** One point: how much of everything there is. */
                       
                           
                         
                              
                            
 

/** Versions have ten digits, so that all frames have the same length. */
export const firstVersion = 1_000_000_000;
export const group = 'growth.kctl.dev';
/** How many objects are on one node, the value of the second index. */
export const objectsPerNode = 100;

/** @example `thing007` */
export function kindName(kind        )         {
  return `Thing${String(kind).padStart(3, '0')}`;
}

/** How many objects of each kind there are; a point has the same number of each. */
export function objectsPerKind({ objects, kinds }      )         {
  if (objects % kinds !== 0) throw new Error(`${objects} objects are not ${kinds} kinds of the same size`);
  return objects / kinds;
}

/** An event of a storm. Of ten events of a kind one deletes an object and the next one creates it again. */
                             
                        
                          
                                                  
 

/** The `nth` event of a storm: round the kinds, and across the objects of each. */
export function stormEvent(size      , nth        )             {
  const ofKind = Math.floor(nth / size.kinds);
  const type = ofKind % 10 === 8 ? 'DELETED' : ofKind % 10 === 9 ? 'ADDED' : 'MODIFIED';
  const place = type === 'ADDED' ? ofKind - 1 : ofKind;
  return { kind: nth % size.kinds, object: (place * 7919) % objectsPerKind(size), type };
}

/** A storm ends with a whole round, so that no object is missing after it. */
export function wholeRounds(size      , events        )         {
  const round = size.kinds * 10;
  return Math.ceil(events / round) * round;
}
