// The map forming: key frames, mixed by a slider.

const SECONDS = 8; // from the first frame to the last

// Each frame fills the unit square: the view grows with the map.
export function placesOfFrame(x, y, height = 1) {
  let [right, top] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    right = Math.max(right, x[i]);
    top = Math.max(top, y[i]);
  }
  const extent = Math.max(right, top, 1);
  const places = new Float32Array(2 * x.length);
  for (let i = 0; i < x.length; i++) {
    places[2 * i] = 0.5 + (x[i] - right / 2) / extent;
    places[2 * i + 1] = height / 2 + (y[i] - top / 2) / extent;
  }
  return places;
}

export class Film {
  static async read(store, how) {
    const film = new Film();
    film.frames = how.frames;
    film.points = await store.ints(how.places, how.n);
    film.places = [];
    for (const frame of how.frames) {
      const [x, y] = [await store.ints(frame.x, how.n), await store.ints(frame.y, how.n)];
      film.places.push(placesOfFrame(x, y));
    }
    film.moment = how.frames.length - 1;
    return film;
  }

  get last() {
    return this.frames.length - 1;
  }

  // The two frames around the moment, and how far it is from the first to the second.
  get around() {
    const first = Math.min(Math.floor(this.moment), this.last);
    return { first, second: Math.min(first + 1, this.last), mix: this.moment - first };
  }

  get caption() {
    const { first, second, mix } = this.around;
    const [from, to] = [this.frames[first].iteration, this.frames[second].iteration];
    const iteration = Math.round(from + (to - from) * mix) + 1;
    return `iteration ${iteration}: ${this.frames[first].phase}`;
  }

  // Where phases begin, as shares of the slider.
  get marks() {
    return this.frames
      .map((frame, k) => ({ share: k / this.last, phase: frame.phase }))
      .filter((mark, k, all) => k === 0 || mark.phase !== all[k - 1].phase)
      .map((mark, k, all) => ({ ...mark, width: (all[k + 1]?.share ?? 1) - mark.share }));
  }

  // The moment that many seconds later.
  after(seconds) {
    return Math.min(this.last, this.moment + (seconds / SECONDS) * this.last);
  }
}
