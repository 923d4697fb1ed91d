// What a film is: the data of a run made ready for showing. The program writes it (include/tendril/view/film.h), the viewer reads it;
// the two files describe one format and change together.
//
// A film has a header (JSON) and channels. A channel holds the numbers of some things over the frames, cut into chunks of
// `framesPerChunk` frames, so that a long run can be loaded piece by piece. The bytes of a chunk, little-endian, one array after the other:
//
//   pose   position float32 [frames][items][3], then quaternion int16 [frames][items][4] = 32767 (w, x, y, z), w >= 0
//   dense  float32 [frames][items][columns]
//   list   uint32 [frames] numbers of lines, then float32 [lines of all frames][columns]
//
// NaN stands for "not known". Each array is stored byte plane by byte plane (all first bytes of the numbers, then all second bytes, ...)
// and the whole chunk deflated (zlib), which `DecompressionStream('deflate')` undoes. Chunk number c holds the frames
// c framesPerChunk ... of the film. In a page that stands alone, a chunk is the base64 text of
// <script type="text/plain" id="chunk/CHANNEL/NUMBER">; from a server it is GET chunk/CHANNEL/NUMBER (bytes), the header GET film.json.

export const filmFormat = 1;

/** Metres, radians, newtons, seconds; vectors in the inertial frame unless said otherwise. */
export type Vec3 = [number, number, number];

export interface FilmHeader {
  format: number;
  /** Of the program that wrote the film. */
  version: string;
  /** Title and description of the scene, and the name of its file. Texts of the author: never to be inserted as HTML. */
  title: string;
  description: string;
  scene: string;
  parameters: Record<string, number | string>;
  /** What the frames run along: time [s] of a motion, the load parameter of a sequence of equilibria. */
  axis: { kind: 'time' | 'load'; label: string; unit: string };
  /** Value along the axis, and row of results.h5, of each frame. */
  times: number[];
  rows: number[];
  /** Rows that the results have; more than frames if the film was thinned out. */
  totalRows: number;
  framesPerChunk: number;
  /** What whoever looks must know: half-written results, frames left out, another version. */
  notices: string[];

  /** Positions in channels, and the box, are relative to this point. */
  origin: Vec3;
  /** Box about everything but unbounded obstacles over all frames, relative to the origin. A server has looked at some frames only. */
  bounds: [Vec3, Vec3];
  /** Size of the model [m]: of arrows, frames, the ground grid. */
  extent: number;
  /** Direction that is shown upwards: against gravity if there is any. */
  up: Vec3;
  /** All motion is in the plane x, y: looked at along -z at first. */
  planar: boolean;

  bodies: { name: string; shapes: ShapeData[] }[]; // poses in the channel `bodies`
  obstacles: { name: string; shapes: ShapeData[] }[]; // poses in the channel `obstacles`
  beams: BeamData[]; // poses of all nodes, beam after beam, in the channel `nodes`
  shells?: ShellData[]; // positions of the vertices, shell after shell, in the channel `shells` (3 columns); no shells in older films
  markers: { name: string }[]; // poses in the channel `markers`
  joints: { name: string; kind: string; first: string; second: string }[]; // channels `joints` (poses), `reactions` (6 columns: force, moment)
  /** What reaches straight from one point to another: springs, joints that keep a distance, cables and muscles that are controlled, guides. Poses
   *  of first and second end, link after link, in the channel `links`. */
  links: { name: string; kind: 'distance' | 'spring' | 'cable' | 'muscle' | 'guide' }[];
  /** Parts that contacts name by number: bodies, obstacles. */
  parts: { name: string; body: number; obstacle: number }[]; // number in the lists above, or -1
  meshes: MeshData[];

  channels: Record<string, ChannelInfo>;
  /** What things can be coloured by. */
  fields: FieldInfo[];
  /** Named outputs over the frames, then energies, residuals, iterations. The numbers are in the channel `series/NAME` (one item) or, of a
   *  final array, in `value`. */
  series: SeriesInfo[];
  /** summary.json, null if there is none. */
  summary: Record<string, unknown> | null;
  /** Last lines of log.txt. */
  log: string[];
  /** Marks on the axis: phases of a manoeuvre, events, changes of stability, branches; with the frame nearest to them. */
  marks: { at: number; frame: number; label: string }[];
  /** Frames that do not go on from the one before: the first of a branch of equilibria. */
  breaks: number[];
}

export interface ShapeData {
  kind:
    | 'sphere' // size: radius
    | 'box' // edges a, b, c
    | 'cylinder' // radius, length (along z)
    | 'tube' // outer radius, inner radius, length
    | 'cone' // radius, height (base at z = -height/4, its centre of mass in the origin)
    | 'capsule' // radius, length of the straight part
    | 'ellipsoid' // three radii
    | 'half-space' // z <= 0 is solid
    | 'disc' // radius; planar
    | 'polygon' // mesh: its corners in order; planar
    | 'mesh'; // mesh
  size: number[];
  /** Solid inside the hollow of the shape instead (hollow balls and discs): others move inside. */
  hollow: boolean;
  /** Frame in that of the part: position, quaternion (w, x, y, z). */
  position: Vec3;
  rotation: [number, number, number, number];
  /** Number in `meshes`, or -1. */
  mesh: number;
}

/** float32 [vertices][3] and uint32 [triangles][3], base64 of the plain bytes. */
export interface MeshData {
  vertices: string;
  triangles: string;
}

/** Element e of a beam lies between its nodes e and e + 1 on the curve H_e exp(xi d), a piece of a helix; its section is in the plane of the
 *  node's second and third director. */
export interface BeamData {
  name: string;
  nodes: number; // nodes - 1 elements
  firstNode: number; // in the channel `nodes`
  firstElement: number; // in channels of elements
  arclength: number[];
  section: {
    shape: 'rectangle' | 'circle' | 'tube';
    width: number; // along the second director; diameter
    height: number; // along the third director
    innerRadius: number;
    /** The scene gives stiffness without a shape: the circle is only a sign. */
    assumed: boolean;
  };
}

/** A sheet as a mesh of (rows + 1) (columns + 1) vertices, row by row. */
export interface ShellData {
  name: string;
  rows: number;
  columns: number;
  firstVertex: number; // in the channel `shells`
}

export interface ChannelInfo {
  layout: 'pose' | 'dense' | 'list';
  items: number; // 0 of a list
  columns: string[]; // names; of a pose none
  /** Bytes of the chunks as stored; from a server those of the chunks made so far. */
  bytes: number;
}

/** The list `contacts` has the columns: position x y z, normal x y z (from the second part to the first), force x y z on the first part,
 *  gap, slip (speed), status (0 open, 1 sticking, 2 sliding), first, second (numbers of parts), normal force, tangential force (magnitudes
 *  that can be coloured by). Forces are NaN where the length of the step is not known. */
export interface FieldInfo {
  name: string;
  label: string;
  unit: string;
  on: 'bodies' | 'nodes' | 'elements' | 'contacts';
  channel: string;
  column: number;
  /** Over the frames; `isSampled` if only some were looked at. */
  range: [number, number];
  isSampled: boolean;
  /** Names of the values 0, 1, 2, ... of a field that is no quantity (status). */
  categories?: string[];
}

export interface SeriesInfo {
  name: string;
  unit: string;
  description: string;
  frame: string;
  /** Grouping of the charts. */
  group: 'outputs' | 'energy' | 'solver';
  columns: string[];
  value?: number[];
}
